// What /proc tells of a descriptor in another process, and who else holds a socket.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/unique_fd.h"

namespace sockhop::sys {

/// st_ino: two sockets that are open at the same time differ in it.
std::uint64_t inode_of(FdRef fd);

/// FD_CLOEXEC of a descriptor, from its fdinfo (proc(5): "flags" holds O_CLOEXEC); false when it is
/// gone.
bool closes_on_exec(std::int32_t thread, int number);

/// A copy of the socket with `inode` from any other process of the pid namespace of `thread`.
/// ENOENT: no holder that can be inspected; ETIME: not within the budget.
Result<UniqueFd> fetch_socket_from_others(std::int32_t thread, std::uint64_t inode,
                                          std::int64_t budget_ns);

}  // namespace sockhop::sys
