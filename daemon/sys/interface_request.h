// ioctl requests of the range 0x8900..0x89ff on a socket (netdevice(7)), done on the caller's
// behalf.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace sockhop::sys {

inline constexpr std::size_t kMaxRequest = 128;

/// Bytes behind the argument pointer, read before and written after; 0: nothing lies there.
std::size_t request_size(std::uint32_t request);

/// Requests about the socket itself (owner, urgent mark, time stamps) and not about interfaces.
bool asks_the_socket(std::uint32_t request);

struct RequestAnswer {
  std::int64_t value = 0;
  /// SIOCGIFCONF: what belongs at `list_address` in the caller's memory.
  std::vector<std::byte> list;
  std::uint64_t list_address = 0;
};

/// Changes `argument` in place as the kernel does.
Result<RequestAnswer> ask_socket(FdRef socket, std::uint32_t request,
                                 std::span<std::byte> argument);
/// On a fresh socket of the calling thread's network namespace.
Result<RequestAnswer> ask_interfaces(int family, std::uint32_t request,
                                     std::span<std::byte> argument);

}  // namespace sockhop::sys
