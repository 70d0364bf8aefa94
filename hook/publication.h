// Ports and rules of a container, told to sockhopd by its command line program, and taken back.
//
// The program, not a gRPC call from here: sockhop-runtime is run five times in a container's life,
// and loading the gRPC library each time would cost more than everything else it does.
#pragma once

#include <chrono>
#include <string>

#include "core/container_wishes.h"
#include "hook/prepare.h"
#include "sys/runtime_dir.h"

namespace sockhop::hook {

/// accelerated when the daemon took them; refused when it did not want them (a port is busy);
/// plain when it did not answer.
Preparation publish(const sys::RuntimeDir& dir, const std::string& container,
                    const core::ContainerWishes& wishes, std::chrono::milliseconds patience);

/// Takes back what was published for a container that is being deleted: its runtime may have failed
/// to start it, and then no end of a container frees its ports.
void forget(const std::string& container);

}  // namespace sockhop::hook
