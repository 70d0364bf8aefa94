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

/// `narrow`: the structures are those of a 32-bit ABI.
struct SocketRequest {
  std::uint32_t number;
  bool narrow = false;
};

/// Bytes behind the argument pointer, read before and written after; 0: a request that is refused.
std::size_t request_size(SocketRequest request);

/// Requests about the socket itself (owner, urgent mark, time stamps) and not about interfaces.
bool asks_the_socket(std::uint32_t request);

struct RequestAnswer {
  std::int64_t value = 0;
  /// SIOCGIFCONF: what belongs at `list_address` in the caller's memory.
  std::vector<std::byte> list;
  std::uint64_t list_address = 0;
};

/// Changes `argument` in place as the kernel does.
Result<RequestAnswer> ask_socket(FdRef socket, SocketRequest request,
                                 std::span<std::byte> argument);
/// On a fresh socket of the calling thread's network namespace. Only questions that anybody may ask
/// are passed on: the calling thread may have rights that the container has not.
Result<RequestAnswer> ask_interfaces(int family, SocketRequest request,
                                     std::span<std::byte> argument);

}  // namespace sockhop::sys
