// What can be found out about a container from outside: where it lives and how it reaches the
// world.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/unique_fd.h"
#include "core/admission.h"
#include "core/route_answer.h"
#include "keeper/notify_door.h"

namespace sockhop::keeper {

/// What tells processes of the container from the runtime's. A runtime that had ended before it was
/// looked at has told its network namespace only. No container shares the mount namespace of its
/// runtime, and one that shares its pid namespace does not begin one (`begins`).
core::ContainerMark mark_of(const core::Namespaces& inside, core::Namespaces runtime, bool begins);
core::ContainerMark mark_of(pid_t container, const core::Namespaces& runtime);

/// The namespace between the container and the host; where nobody can tell, there is none.
UniqueFd middle_of(UniqueFd of_runtime, std::int64_t container);

/// The container's process as we see it; 0, with a line in the log, when nobody can tell and there
/// is no session yet, which would have to know.
std::int64_t container_pid(const Arrival& arrival, bool has_session);

std::vector<core::Uplink> uplinks_of(std::uint64_t netns_inode);
/// Those of the middle namespace and of the container's own.
std::vector<core::Uplink> find_uplinks(FdRef middle, std::int64_t container_pid);

}  // namespace sockhop::keeper
