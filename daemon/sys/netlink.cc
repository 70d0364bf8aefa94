#include "sys/netlink.h"

#include <linux/netlink.h>
#include <sys/socket.h>

namespace sockhop::sys {
namespace {

// The kernel fills at most 32 KiB of a dump into one datagram (af_netlink.c).
constexpr std::size_t kBufferSize = 32768;
constexpr std::size_t kMaxAnswer = 16U * 1024 * 1024;
constexpr int kMaxDrained = 1024;

// Left uninitialised: a lookup's answer touches one page of it.
struct Buffer {
  alignas(nlmsghdr) char bytes[kBufferSize];
};

Status set_option(const UniqueFd& fd, int option) {
  const int on = 1;
  if (::setsockopt(fd.get(), SOL_NETLINK, option, &on, sizeof on) != 0) {
    return errno_error("setsockopt(SOL_NETLINK)");
  }
  return {};
}

struct Received {
  std::size_t length;
  bool from_kernel;
};

// Root of a container may send to netlink sockets of its namespace, so the sender must be looked
// at.
Result<Received> receive(FdRef fd, Buffer& buffer) {
  sockaddr_nl sender{};
  socklen_t sender_length = sizeof sender;
  const ssize_t length =
      ::recvfrom(fd.get(), buffer.bytes, sizeof buffer.bytes, MSG_DONTWAIT | MSG_TRUNC,
                 reinterpret_cast<sockaddr*>(&sender), &sender_length);
  if (length < 0) return errno_error("recv(netlink)");
  if (static_cast<std::size_t>(length) > sizeof buffer.bytes) return Error{EMSGSIZE, "netlink", {}};
  return Received{static_cast<std::size_t>(length), sender.nl_pid == 0};
}

template <class Visit>
void for_each_message(const Buffer& buffer, std::size_t length, const Visit& visit) {
  int left = static_cast<int>(length);
  const auto* message = reinterpret_cast<const nlmsghdr*>(buffer.bytes);
  for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left)) visit(*message);
}

// What one datagram of an answer brought.
struct Progress {
  bool done = false;
  int error = 0;
};

Progress take_answer(const Buffer& buffer, std::size_t length, std::uint32_t sequence,
                     const NetlinkSocket::OnMessage& on_message) {
  Progress progress;
  for_each_message(buffer, length, [&](const nlmsghdr& message) {
    if (message.nlmsg_seq != sequence || progress.done) return;
    if ((message.nlmsg_flags & NLM_F_DUMP_INTR) != 0) progress.error = EINTR;
    if (message.nlmsg_type == NLMSG_ERROR || message.nlmsg_type == NLMSG_DONE) {
      // Both begin with an errno, negative; DONE may carry that of a dump which failed half-way.
      const bool readable = mnl_nlmsg_get_payload_len(&message) >= sizeof(int);
      const int code = readable ? *static_cast<const int*>(mnl_nlmsg_get_payload(&message)) : 0;
      if (code < 0 && progress.error == 0) progress.error = -code;
      progress.done = true;
      return;
    }
    if ((message.nlmsg_flags & NLM_F_MULTI) == 0) progress.done = true;
    on_message(message);
  });
  return progress;
}

}  // namespace

NetlinkRequest::NetlinkRequest(std::uint16_t type, std::uint16_t flags)
    : header(mnl_nlmsg_put_header(bytes.data())) {
  header->nlmsg_type = type;
  header->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
}

NetlinkSocket::NetlinkSocket(UniqueFd fd) : fd_(std::move(fd)) {}

Result<NetlinkSocket> NetlinkSocket::open(int protocol) {
  UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
  if (!fd) return errno_error("socket(AF_NETLINK)");
  sockaddr_nl any{};
  any.nl_family = AF_NETLINK;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0) {
    return errno_error("bind(AF_NETLINK)");
  }
  // Strict: the kernel filters dumps by what the request says. Capped errors do not repeat it.
  for (const int option : {NETLINK_GET_STRICT_CHK, NETLINK_CAP_ACK}) {
    if (auto set = set_option(fd, option); !set) return set.error();
  }
  return NetlinkSocket(std::move(fd));
}

Status NetlinkSocket::join(std::uint32_t group) {
  if (::setsockopt(fd_.get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) != 0) {
    return errno_error("setsockopt(NETLINK_ADD_MEMBERSHIP)");
  }
  return {};
}

Status NetlinkSocket::ask(NetlinkRequest& request, const OnMessage& on_message) {
  request.header->nlmsg_seq = ++sequence_;
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  if (::sendto(fd_.get(), request.header, request.header->nlmsg_len, MSG_DONTWAIT,
               reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel) < 0) {
    return errno_error("send(netlink)");
  }
  return read_answer(sequence_, on_message);
}

// The kernel queues an answer, or the next part of a dump, inside send and recv: there is nothing
// to wait for. An interrupted dump is read to its end so that the socket can be used again.
Status NetlinkSocket::read_answer(std::uint32_t sequence, const OnMessage& on_message) {
  Buffer buffer;
  int error = 0;
  for (std::size_t total = 0; total < kMaxAnswer;) {
    const auto received = receive(fd_, buffer);
    if (!received) return received.error();
    total += received->length + 1;
    if (!received->from_kernel) continue;
    const Progress progress = take_answer(buffer, received->length, sequence, on_message);
    if (error == 0) error = progress.error;
    if (!progress.done) continue;
    if (error == 0) return {};
    return Error{error, "netlink", {}};
  }
  return Error{E2BIG, "netlink", {}};
}

NetlinkSocket::Drained NetlinkSocket::drain(const OnMessage& on_message) {
  Buffer buffer;
  auto drained = Drained::nothing;
  for (int i = 0; i < kMaxDrained; ++i) {
    const auto received = receive(fd_, buffer);
    if (!received && received.error().code == EAGAIN) return drained;
    if (!received) {
      drained = Drained::overflow;
      continue;
    }
    if (!received->from_kernel) continue;
    if (drained == Drained::nothing) drained = Drained::messages;
    for_each_message(buffer, received->length, on_message);
  }
  return Drained::overflow;
}

NetlinkSocket::Drained NetlinkSocket::discard() {
  auto drained = Drained::nothing;
  for (int i = 0; i < kMaxDrained; ++i) {
    char byte = 0;
    if (::recv(fd_.get(), &byte, sizeof byte, MSG_DONTWAIT | MSG_TRUNC) >= 0) {
      if (drained == Drained::nothing) drained = Drained::messages;
    } else if (errno == EAGAIN) {
      return drained;
    } else {
      drained = Drained::overflow;
    }
  }
  return Drained::overflow;
}

}  // namespace sockhop::sys
