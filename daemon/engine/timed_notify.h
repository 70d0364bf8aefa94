// A notify fd that notes when descriptors are exchanged, to keep cores awake where that pays.
#pragma once

#include <memory>

#include "core/keep_awake.h"
#include "sys/awake_cores.h"
#include "sys/notify_fd.h"

namespace sockhop::engine {

/// Of one session, for all of its notify fds.
struct Pace {
  core::KeepAwake policy;
  sys::AwakeCores cores;
};

/// `pace` must outlive it.
std::unique_ptr<sys::NotifyFd> time_exchanges(std::unique_ptr<sys::NotifyFd> inner, Pace& pace);

}  // namespace sockhop::engine
