// The configuration of both programs.
#pragma once

#include <string>

#include "core/runtime_config.h"

namespace sockhop::hook {

/// The path we are called by, "/usr/local/bin/sockhop-crun"; in the folder of this program where
/// the caller gave a name only.
std::string called_as(const std::string& name);

/// From CALLED.toml, else /etc/sockhop/runtime.toml, else the defaults. Beside the name we are
/// called by, because engines clean up with an empty environment: a file below HOME would not be
/// found then, and another runtime would be asked for the container.
Result<core::RuntimeConfig> read_settings(const std::string& called);

}  // namespace sockhop::hook
