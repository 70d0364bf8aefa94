// What sockhop-hook does at each stage of a container's life.
#pragma once

#include <string>

#include "core/runtime_config.h"
#include "hook/prepare.h"

namespace sockhop::hook {

struct Precreated {
  Preparation done;
  std::string config;  // to be used in the place of the one that came
};

/// Podman's own stage: the whole config.json comes, and the one to be used goes back. There is no
/// container id yet; ports are published at createRuntime. Only what is no config is refused:
/// Podman shows nobody what this stage says, so everything else is said at createRuntime.
Precreated precreate(const std::string& config, const core::RuntimeConfig& settings);

/// `state`: what the runtime gives its hooks. Publishes the ports of the annotations; refuses wrong
/// ones, and a container that requires sockhop and cannot have it.
Preparation create_runtime(const std::string& state, const core::RuntimeConfig& settings);

/// Takes back what create_runtime has published; nothing can go wrong.
void poststop(const std::string& state);

}  // namespace sockhop::hook
