// An engine's default seccomp profile, in the format that Docker, Podman and containerd's tools
// share: OCI's section with conditions on capabilities, architecture and kernel in each entry.
//
// A container that an engine gives no profile at all would get one that permits everything but our
// own rules. It gets the engine's default in its place: the file is that of the engine
// (/usr/share/containers/seccomp.json), or the one that sockhop installs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sockhop::core {

/// What the conditions of an entry are compared with.
struct ProfileConditions {
  std::vector<std::string> capabilities;  // "CAP_SYS_ADMIN": those the container may have at all
  std::string kernel;                     // uname -r
};

/// The OCI section for such a container on x86_64, as JSON text. `profile` may also be an OCI
/// section already. Errors name the entry that is not of the format.
Result<std::string> engine_profile_to_oci(std::string_view profile,
                                          const ProfileConditions& conditions);

/// Has the container a profile? Not when linux.seccomp is missing, null or says nothing.
/// Error: no OCI config.
Result<bool> has_profile(std::string_view config);

/// Puts the engine's default into an OCI config, for the container's bounding capabilities.
Result<std::string> put_engine_profile(std::string_view config, std::string_view profile,
                                       const std::string& kernel);

}  // namespace sockhop::core
