// Where the default seccomp profile of the engine lies.
#pragma once

#include <string>

#include "base/result.h"

namespace sockhop::hook {

/// Gives a config.json without a profile one. `wanted`: a path; "none" for the profile that permits
/// everything (the config comes back as it is); empty for the first that is there: the engine's, or
/// the one that sockhop has installed.
Result<std::string> put_default_profile(const std::string& config, const std::string& wanted);

}  // namespace sockhop::hook
