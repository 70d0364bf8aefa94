#include "sys/bell_socket.h"

#include <sys/socket.h>

#include "core/sockaddr.h"
#include "sys/host_socket.h"
#include "sys/socket_query.h"

namespace sockhop::sys {
namespace {

constexpr int kTries = 8;

Result<UniqueFd> bind_new(const core::Endpoint& endpoint, int family) {
  auto socket = make_tcp_socket(family);
  if (!socket) return socket;
  const auto name = core::make_sockaddr(endpoint, family);
  if (::bind(socket->get(), reinterpret_cast<const sockaddr*>(name.data()),
             static_cast<socklen_t>(name.size())) < 0) {
    return errno_error("bind");
  }
  return socket;
}

}  // namespace

Result<UniqueFd> make_bell_socket(const core::Address& from, int family) {
  for (int i = 0; i < kTries; ++i) {
    // The kernel chooses a free port for a socket that goes; the bell takes it by number.
    auto chosen = bind_new({from, 0, 0}, family);
    if (!chosen) return chosen.error();
    const auto name = local_name(*chosen);
    if (!name) return name.error();
    chosen->reset();
    auto socket = bind_new(*name, family);
    if (socket) return socket;
  }
  return Error{EADDRINUSE, "bind"};
}

int send_byte(FdRef socket) {
  const char byte = 0;
  return ::send(socket.get(), &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? errno : 0;
}

}  // namespace sockhop::sys
