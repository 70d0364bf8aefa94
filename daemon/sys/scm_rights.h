// Bytes with descriptors beside them (SCM_RIGHTS, unix(7)).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace sockhop::sys {

/// The kernel's SCM_MAX_FD: more descriptors do not fit one message.
inline constexpr std::size_t kMaxDescriptors = 253;

struct Received {
  std::string bytes;
  std::vector<UniqueFd> descriptors;  // close-on-exec, owned here
  bool end = false;                   // the other side has closed
  bool bytes_lost = false;            // MSG_TRUNC: a packet longer than asked for
  bool descriptors_lost = false;      // MSG_CTRUNC: more than there was room or numbers for
};

/// One sendmsg of all bytes; EAGAIN when the other side does not read, EPIPE when it is gone.
Status send_with_descriptors(FdRef socket, std::string_view bytes,
                             std::span<const FdRef> descriptors);

/// One recvmsg. EAGAIN when there is nothing yet.
Result<Received> receive_with_descriptors(FdRef socket, std::size_t max_bytes);

}  // namespace sockhop::sys
