#include "sys/socket_query.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/time.h>

#include <array>
#include <span>

#include "core/sockaddr.h"
#include "sys/linux_abi.h"

namespace sockhop::sys {
namespace {

template <class T>
T option_or(FdRef fd, int level, int name, T fallback) {
  T value{};
  socklen_t size = sizeof value;
  return ::getsockopt(fd.get(), level, name, &value, &size) == 0 ? value : fallback;
}

using NameCall = int (*)(int, sockaddr*, socklen_t*);

Result<core::Endpoint> name_by(NameCall call, FdRef fd, const char* what) {
  std::array<std::byte, core::kMaxSockaddr> room{};
  socklen_t size = room.size();
  if (call(fd.get(), reinterpret_cast<sockaddr*>(room.data()), &size) < 0) return errno_error(what);
  if (size > room.size()) size = room.size();
  const auto parsed = core::parse_sockaddr(std::span<const std::byte>(room).first(size));
  const auto* name = std::get_if<core::InetName>(&parsed);
  if (name == nullptr) return Error{EAFNOSUPPORT, what, {}};
  return name->endpoint;
}

bool has_signal_owner(FdRef fd) {
  f_owner_ex owner{};
  if (::fcntl(fd.get(), F_GETOWN_EX, &owner) == 0 && owner.pid != 0) return true;
  return ::fcntl(fd.get(), F_GETSIG) > 0;
}

core::Side side_of(FdRef fd, const NetnsCookies& cookies) {
  const std::uint64_t cookie = netns_cookie(fd);
  if (cookie != 0 && cookie == cookies.container) return core::Side::container;
  if (cookie != 0 && cookie == cookies.host) return core::Side::host;
  return core::Side::elsewhere;
}

}  // namespace

int socket_domain(FdRef fd) { return option_or(fd, SOL_SOCKET, SO_DOMAIN, 0); }

std::uint64_t socket_cookie(FdRef fd) {
  return option_or<std::uint64_t>(fd, SOL_SOCKET, SO_COOKIE, 0);
}

std::uint64_t netns_cookie(FdRef fd) {
  return option_or<std::uint64_t>(fd, SOL_SOCKET, SO_NETNS_COOKIE, 0);
}

core::TcpState tcp_state(FdRef fd) {
  // TCP_INFO copies no more than asked for; the state is its first byte.
  const auto state = option_or<std::uint8_t>(fd, IPPROTO_TCP, TCP_INFO, 0);
  return state == 0 ? core::TcpState::close : static_cast<core::TcpState>(state);
}

std::uint32_t accept_queue_length(FdRef listener) {
  return option_or<tcp_info>(listener, IPPROTO_TCP, TCP_INFO, {}).tcpi_unacked;
}

Result<core::Endpoint> local_name(FdRef fd) { return name_by(::getsockname, fd, "getsockname"); }
Result<core::Endpoint> peer_name(FdRef fd) { return name_by(::getpeername, fd, "getpeername"); }

Result<core::SocketFacts> query_socket(FdRef fd, const NetnsCookies& cookies) {
  core::SocketFacts facts;
  facts.family = socket_domain(fd);
  if (facts.family == 0) return Error{ENOTSOCK, "getsockopt", {}};
  facts.type = option_or(fd, SOL_SOCKET, SO_TYPE, 0);
  facts.protocol = option_or(fd, SOL_SOCKET, SO_PROTOCOL, 0);
  const bool udp = facts.is_inet_udp();
  if (!udp && !facts.may_listen_for_tcp()) return facts;
  facts.side = side_of(fd, cookies);
  facts.cookie = socket_cookie(fd);
  if (!udp) facts.state = tcp_state(fd);
  if (udp && peer_name(fd)) facts.state = core::TcpState::established;
  facts.nonblocking = (::fcntl(fd.get(), F_GETFL) & O_NONBLOCK) != 0;
  facts.v6_only = facts.family == AF_INET6 && option_or(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0) != 0;
  if (auto local = local_name(fd)) facts.local = *local;
  facts.fastopen_connect = !udp && option_or(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 0) != 0;
  facts.bound_device = option_or(fd, SOL_SOCKET, SO_BINDTOIFINDEX, 0) != 0;
  facts.has_signal_owner = has_signal_owner(fd);
  return facts;
}

std::optional<std::int64_t> timeout_of(FdRef fd, int option) {
  const auto time = option_or<timeval>(fd, SOL_SOCKET, option, {});
  if (time.tv_sec == 0 && time.tv_usec == 0) return std::nullopt;
  return time.tv_sec * 1'000'000'000LL + time.tv_usec * 1'000LL;
}

}  // namespace sockhop::sys
