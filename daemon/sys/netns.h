// Network namespaces: finding, naming and entering them.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/result.h"
#include "base/unique_fd.h"

namespace sockhop::sys {

/// /proc/PID/ns/net; needs ptrace access to the process (any capability over its user namespace).
Result<UniqueFd> open_netns_of_process(pid_t pid);
/// The calling thread's own.
Result<UniqueFd> open_own_netns();
/// The namespace a socket belongs to (SIOCGSKNS); needs CAP_NET_ADMIN over it.
Result<UniqueFd> open_netns_of_socket(FdRef socket);
/// The user namespace that owns `netns` (NS_GET_USERNS, ioctl_ns(2)); EPERM when it is outside the
/// caller's own.
Result<UniqueFd> open_owner_userns(FdRef netns);

/// st_ino of a namespace file: its name while it lives (it may be given to another one later).
Result<std::uint64_t> namespace_inode(FdRef ns);

/// SO_NETNS_COOKIE: never given to another namespace until the next boot.
Result<std::uint64_t> netns_cookie_of_socket(FdRef socket);
/// Of the calling thread's namespace.
Result<std::uint64_t> own_netns_cookie();

/// Moves the calling thread only. Needs CAP_SYS_ADMIN over the namespace and in the caller's own
/// user namespace.
Status enter_netns(FdRef netns);

}  // namespace sockhop::sys
