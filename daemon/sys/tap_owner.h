// Which tap devices a process holds, and which network namespace each one is in.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace sockhop::sys {

struct HeldTap {
  std::string device;
  std::uint64_t netns_inode = 0;
};

/// Asks the descriptors themselves (copies of them, closed at once). EPERM where the process may
/// not be inspected: it is not dumpable, or Yama forbids it.
Result<std::vector<HeldTap>> taps_held_by(pid_t pid);

}  // namespace sockhop::sys
