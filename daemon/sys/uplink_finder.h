// Finds how a network namespace reaches the outside: the slirp4netns or pasta that owns its tap.
//
// Runs in the keeper, in the user's own namespaces: from inside a user namespace these processes
// cannot be read. Only processes of the calling user count, and only those that stand in the
// calling thread's own network namespace: a process of a container may take any name, but not that
// place.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "core/route_answer.h"

namespace sockhop::sys {

class UplinkFinder {
 public:
  /// Every uplink of the namespace; empty when there is none or its owner is not known. Scans /proc
  /// (about 10 us per process). Where pasta was not told a device name it counts once for each of
  /// the host's outbound devices, whose name it may have copied.
  Result<std::vector<core::Uplink>> find(std::uint64_t netns_inode) const;
};

}  // namespace sockhop::sys
