// A pid that a process of another pid namespace has written down, as ours.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "base/result.h"

namespace sockhop::sys {

/// The process that has number `pid` in the pid namespace with inode `pid_namespace`. Without one
/// (the writer has ended before anybody asked): the process of that number here if it has a seccomp
/// filter, else the only one that has a filter and that number in some namespace. ESRCH when there
/// is none that can be seen, or more than one. Scans /proc unless the namespace is our own.
Result<pid_t> find_foreign_pid(std::int64_t pid, std::optional<std::uint64_t> pid_namespace);

/// Is it the first process of a pid namespace below ours?
bool begins_pid_namespace(pid_t pid);

}  // namespace sockhop::sys
