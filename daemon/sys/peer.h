// Who is at the other end of a unix socket, and in which namespaces it lives.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "core/admission.h"

namespace sockhop::sys {

struct Peer {
  pid_t pid = 0;
  uid_t uid = 0;
  /// Names the process for good, where the kernel tells (SO_PEERPIDFD, Linux 6.5, else pidfd_open);
  /// empty when it has ended.
  UniqueFd process;
};

/// The process that connected (or listened), even when it has ended.
Result<Peer> peer_of(FdRef socket);

/// Is it still the process that peer_of() found? Asked after each look into /proc/PID.
bool still_there(const Peer& peer);

/// The network namespace that the other side of an accepted connection was made in, also when the
/// process has ended: the kernel gives an accepted unix socket the namespace of the one that
/// connected. EPERM when it is neither the caller's own nor below its user namespace.
Result<UniqueFd> netns_of_peer(FdRef accepted);

/// Inode numbers of the namespaces of a process, with the ancestors of its pid namespace as far as
/// they lie below the caller's own.
Result<core::Namespaces> namespaces_of(pid_t pid);

}  // namespace sockhop::sys
