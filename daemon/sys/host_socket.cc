#include "sys/host_socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>

#include "core/sockaddr.h"
#include "sys/linux_abi.h"

namespace sockhop::sys {
namespace {

ConnectOutcome outcome_of(int result, int error) {
  if (result == 0) return {ConnectStage::done, 0};
  switch (error) {
    case EISCONN:
      return {ConnectStage::already, 0};
    case EINPROGRESS:
    case EALREADY:
    case EINTR:
      return {ConnectStage::in_progress, 0};
    case EAFNOSUPPORT:
      return {ConnectStage::unconnected, error};
    default:
      return {ConnectStage::failed, error};
  }
}

}  // namespace

Result<UniqueFd> make_tcp_socket(int family) {
  UniqueFd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  if (!socket) return errno_error("socket");
  return socket;
}

Result<UniqueFd> make_socket_like(int family, FdRef other) {
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(other.get(), SOL_SOCKET, SO_TYPE, &type, &size) < 0) {
    return errno_error("SO_TYPE");
  }
  if (type != SOCK_DGRAM) return make_tcp_socket(family);
  UniqueFd socket(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_UDP));
  if (!socket) return errno_error("socket");
  return socket;
}

Status bind_to_device(FdRef socket, int device) {
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_BINDTOIFINDEX, &device, sizeof device) < 0) {
    return errno_error("SO_BINDTOIFINDEX");
  }
  return {};
}

ConnectOutcome start_connect(FdRef socket, const core::Endpoint& destination, int family) {
  const auto name = core::make_sockaddr(destination, family);
  const int result = ::connect(socket.get(), reinterpret_cast<const sockaddr*>(name.data()),
                               static_cast<socklen_t>(name.size()));
  const int error = errno;
  // EAFNOSUPPORT of a first connect is a failure; only the look without an address reads it
  // otherwise.
  if (result < 0 && error == EAFNOSUPPORT) return {ConnectStage::failed, error};
  return outcome_of(result, error);
}

ConnectOutcome take_connect_result(FdRef socket) {
  sockaddr_in6 nobody{};
  nobody.sin6_family = AF_PACKET;
  const int result =
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&nobody), sizeof nobody);
  return outcome_of(result, errno);
}

Result<int> status_flags(FdRef socket) {
  const int flags = ::fcntl(socket.get(), F_GETFL);
  if (flags < 0) return errno_error("F_GETFL");
  return flags & (O_NONBLOCK | O_ASYNC);
}

Status set_status_flags(FdRef socket, int flags) {
  if (::fcntl(socket.get(), F_SETFL, flags) < 0) return errno_error("F_SETFL");
  return {};
}

Status set_nonblocking(FdRef socket, bool nonblocking) {
  auto flags = status_flags(socket);
  if (!flags) return flags.error();
  return set_status_flags(socket, nonblocking ? *flags | O_NONBLOCK : *flags & ~O_NONBLOCK);
}

Status shut_down_association(FdRef socket) {
  sockaddr_in6 unspecified{};
  unspecified.sin6_family = AF_UNSPEC;
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&unspecified), sizeof unspecified) <
      0) {
    return errno_error("connect");
  }
  return {};
}

Status listen_on(FdRef socket, int backlog) {
  if (::listen(socket.get(), backlog) < 0) return errno_error("listen");
  return {};
}

Result<Accepted> accept_from(FdRef listener, bool nonblocking) {
  std::array<std::byte, core::kMaxSockaddr> room{};
  socklen_t size = room.size();
  const int flags = SOCK_CLOEXEC | (nonblocking ? SOCK_NONBLOCK : 0);
  UniqueFd fd(::accept4(listener.get(), reinterpret_cast<sockaddr*>(room.data()), &size, flags));
  if (!fd) return errno_error("accept4");
  Accepted accepted{std::move(fd), {}};
  const auto parsed = core::parse_sockaddr(std::span<const std::byte>(room).first(size));
  if (const auto* name = std::get_if<core::InetName>(&parsed)) accepted.peer = name->endpoint;
  return accepted;
}

}  // namespace sockhop::sys
