#include "sys/host_endpoint.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "core/sockaddr.h"

namespace sockhop::sys {
namespace {

Status set_flag(FdRef socket, int level, int option, int value) {
  if (::setsockopt(socket.get(), level, option, &value, sizeof(value)) != 0) {
    return errno_error("setsockopt");
  }
  return {};
}

std::string remedy_for(int code, const core::Endpoint& host) {
  const std::string name = core::to_string(host);
  switch (code) {
    case EADDRINUSE:
      return name +
             " is in use on the host; stop what listens there (ss -ltnp) or publish another "
             "host port";
    case EACCES:
      return name +
             " needs a privilege; publish a port from 1024 on, or lower "
             "net.ipv4.ip_unprivileged_port_start";
    case EADDRNOTAVAIL:
      return name + " is no address of this host; use one of `ip addr`, or leave it out";
    default:
      return name;
  }
}

}  // namespace

Result<UniqueFd> bind_host_endpoint(const core::PublishedPort& port) {
  const int family = port.host.address.is_v4() ? AF_INET : AF_INET6;
  UniqueFd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  if (!socket) return errno_error("socket");
  if (family == AF_INET6) {
    if (auto set = set_flag(socket, IPPROTO_IPV6, IPV6_V6ONLY, 1); !set) return set.error();
  }
  // Old connections in TIME_WAIT must not keep the port; a set flag would let a stranger in later.
  if (auto set = set_flag(socket, SOL_SOCKET, SO_REUSEADDR, 1); !set) return set.error();
  const auto address = core::make_sockaddr(port.host, family);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(address.data()),
             static_cast<socklen_t>(address.size())) != 0) {
    const int code = errno;
    return Error{code, "bind", remedy_for(code, port.host)};
  }
  for (const int option : {SO_REUSEADDR, SO_REUSEPORT}) {
    if (auto set = set_flag(socket, SOL_SOCKET, option, 0); !set) return set.error();
  }
  return socket;
}

void let_port_be_bound(FdRef connection) {
  (void)set_flag(connection, SOL_SOCKET, SO_REUSEADDR, 1);
}

}  // namespace sockhop::sys
