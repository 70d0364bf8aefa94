#include "sys/scm_rights.h"

#include <sys/socket.h>

#include <array>
#include <cstring>

namespace sockhop::sys {
namespace {

using ControlBuffer = std::array<char, CMSG_SPACE(sizeof(int) * kMaxDescriptors)>;

void take_descriptors(msghdr& message, std::vector<UniqueFd>& into) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      into.emplace_back(number);
    }
  }
}

}  // namespace

Status send_with_descriptors(FdRef socket, std::string_view bytes,
                             std::span<const FdRef> descriptors) {
  if (descriptors.size() > kMaxDescriptors) {
    return input_error("sendmsg", "more than 253 descriptors in one message");
  }
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) ControlBuffer control{};
  if (!descriptors.empty()) {
    const std::size_t length = sizeof(int) * descriptors.size();
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(length);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(length);
    for (std::size_t i = 0; i < descriptors.size(); ++i) {
      const int number = descriptors[i].get();
      std::memcpy(CMSG_DATA(header) + i * sizeof(int), &number, sizeof(int));
    }
  }
  ssize_t sent;
  do {
    sent = ::sendmsg(socket.get(), &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return errno_error("sendmsg");
  if (static_cast<std::size_t>(sent) != bytes.size()) return Error{EAGAIN, "sendmsg", "short"};
  return {};
}

Result<Received> receive_with_descriptors(FdRef socket, std::size_t max_bytes) {
  Received received;
  received.bytes.resize(max_bytes);
  iovec part{received.bytes.data(), received.bytes.size()};
  alignas(cmsghdr) ControlBuffer control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got;
  do {
    got = ::recvmsg(socket.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return errno_error("recvmsg");
  take_descriptors(message, received.descriptors);
  received.bytes.resize(static_cast<std::size_t>(got));
  received.end = got == 0 && received.descriptors.empty();
  received.bytes_lost = (message.msg_flags & MSG_TRUNC) != 0;
  received.descriptors_lost = (message.msg_flags & MSG_CTRUNC) != 0;
  return received;
}

}  // namespace sockhop::sys
