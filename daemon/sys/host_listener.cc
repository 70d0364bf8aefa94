#include "sys/host_listener.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "core/sockaddr.h"
#include "sys/linux_abi.h"
#include "sys/socket_options.h"

#ifndef IPV6_RECVPKTINFO
#define IPV6_RECVPKTINFO 49
#endif

namespace sockhop::sys {
namespace {

bool set_int(FdRef fd, int level, int name, int value) {
  return ::setsockopt(fd.get(), level, name, &value, sizeof value) == 0;
}

using Value = std::array<std::byte, 16>;

bool read_value(FdRef fd, const CarriedOption& option, Value& value) {
  value.fill(std::byte{0});
  socklen_t size = static_cast<socklen_t>(option.size);
  return ::getsockopt(fd.get(), option.level, option.name, value.data(), &size) == 0;
}

/// Fixed by the bind, or ours: the arrival report.
bool is_left_alone(const CarriedOption& option) {
  return (option.level == IPPROTO_IPV6 &&
          (option.name == IPV6_V6ONLY || option.name == IPV6_RECVPKTINFO)) ||
         (option.level == IPPROTO_IP && option.name == IP_PKTINFO);
}

void carry_buffer(FdRef from, FdRef to, int lock, int name) {
  int locked = 0;
  socklen_t size = sizeof locked;
  if (::getsockopt(from.get(), SOL_SOCKET, SO_BUF_LOCK, &locked, &size) < 0) return;
  int bytes = 0;
  if ((locked & lock) == 0 || ::getsockopt(from.get(), SOL_SOCKET, name, &bytes, &size) < 0) return;
  // The kernel shows the double of what was asked for (socket(7)).
  set_int(to, SOL_SOCKET, name, bytes / 2);
}

}  // namespace

Result<UniqueFd> bind_beside(FdRef bound, const core::Endpoint& host, int family) {
  UniqueFd beside(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  if (!beside) return errno_error("socket");
  if (family == AF_INET6) set_int(beside, IPPROTO_IPV6, IPV6_V6ONLY, host.address.is_v4() ? 0 : 1);
  const auto name = core::make_sockaddr(host, family);
  for (const FdRef fd : {bound, FdRef(beside)}) {
    set_int(fd, SOL_SOCKET, SO_REUSEPORT, 1);
    set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  }
  const int done = ::bind(beside.get(), reinterpret_cast<const sockaddr*>(name.data()),
                          static_cast<socklen_t>(name.size()));
  const int error = errno;
  for (const FdRef fd : {bound, FdRef(beside)}) set_int(fd, SOL_SOCKET, SO_REUSEPORT, 0);
  set_int(done < 0 ? bound : FdRef(beside), SOL_SOCKET, SO_REUSEADDR, 0);
  if (done < 0) return Error{error, "bind", core::to_string(host)};
  return beside;
}

Status listen_at_endpoint(FdRef bound, int backlog) {
  set_int(bound, SOL_SOCKET, SO_REUSEADDR, 1);
  const int done = ::listen(bound.get(), backlog);
  const int error = errno;
  set_int(bound, SOL_SOCKET, SO_REUSEADDR, 0);
  if (done < 0) return Error{error, "listen", {}};
  return {};
}

void stop_listening(FdRef listener) { ::shutdown(listener.get(), SHUT_RD); }

int listen_backlog(FdRef listener) {
  tcp_info info{};
  socklen_t size = sizeof info;
  ::getsockopt(listener.get(), IPPROTO_TCP, TCP_INFO, &info, &size);
  return static_cast<int>(info.tcpi_sacked);
}

void report_arrivals(FdRef listener, int family) {
  if (family == AF_INET6) {
    set_int(listener, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
  } else {
    set_int(listener, IPPROTO_IP, IP_PKTINFO, 1);
  }
}

Result<ListenerOptions> ListenerOptions::open() {
  UniqueFd v4(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!v4) return errno_error("socket");
  UniqueFd v6(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));  // none without IPv6
  return ListenerOptions(std::move(v4), std::move(v6));
}

void ListenerOptions::carry(FdRef container, FdRef host, int family) const {
  const FdRef fresh = family == AF_INET ? v4_ : v6_;
  std::size_t count = 0;
  const CarriedOption* options = carried_options(count);
  for (std::size_t i = 0; i < count; ++i) {
    const CarriedOption& option = options[i];
    if (is_left_alone(option) || (option.level == IPPROTO_IPV6 && family != AF_INET6)) continue;
    Value wanted;
    Value usual;
    if (!read_value(container, option, wanted) || !read_value(fresh, option, usual)) continue;
    Value present;
    if (!read_value(host, option, present) || present == wanted) continue;
    // A host default that differs from the container's is no wish of the application.
    if (wanted == usual) continue;
    ::setsockopt(host.get(), option.level, option.name, wanted.data(),
                 static_cast<socklen_t>(option.size));
  }
  int seconds = 0;
  socklen_t size = sizeof seconds;
  if (::getsockopt(container.get(), IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, &size) == 0) {
    set_int(host, IPPROTO_TCP, TCP_DEFER_ACCEPT, seconds);
  }
  carry_buffer(container, host, 1, SO_SNDBUF);  // SOCK_SNDBUF_LOCK
  carry_buffer(container, host, 2, SO_RCVBUF);  // SOCK_RCVBUF_LOCK
}

}  // namespace sockhop::sys
