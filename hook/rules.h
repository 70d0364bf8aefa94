// sockhop's rules in a container's config, for a daemon that is there to serve them.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"
#include "core/runtime_config.h"
#include "sys/runtime_dir.h"

namespace sockhop::hook {

/// Why a container cannot be accelerated now, with the remedy; nothing when sockhopd is well.
std::optional<std::string> why_not(const sys::RuntimeDir& dir, std::chrono::milliseconds patience);

/// The config.json with our rules, in the engine's default profile where it has none. `runtime`:
/// path of the runtime that will read it, which is asked for its version; empty when not known.
Result<std::string> with_rules(std::string config, const core::RuntimeConfig& settings,
                               const sys::RuntimeDir& dir, const std::string& runtime);

}  // namespace sockhop::hook
