#include "sys/bell_socket.h"

#include <sys/socket.h>

#include "core/sockaddr.h"
#include "sys/host_socket.h"
#include "sys/socket_query.h"

namespace sockhop::sys {
namespace {

constexpr int kTries = 8;

Status bind_to(FdRef socket, const core::Endpoint& endpoint, int family) {
  const auto name = core::make_sockaddr(endpoint, family);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(name.data()),
             static_cast<socklen_t>(name.size())) < 0) {
    return errno_error("bind");
  }
  return {};
}

}  // namespace

Result<UniqueFd> make_bell_socket(const core::Address& from, int family) {
  Error last{EADDRINUSE, "bind"};
  for (int i = 0; i < kTries; ++i) {
    auto socket = make_tcp_socket(family);
    if (!socket) return socket;
    // The kernel chooses a free port; taken again by number, it stays.
    if (auto bound = bind_to(*socket, {from, 0, 0}, family); !bound) return bound.error();
    const auto name = local_name(*socket);
    if (!name) return name.error();
    if (auto free = shut_down_association(*socket); !free) return free.error();
    if (auto bound = bind_to(*socket, *name, family)) return socket;
  }
  return last;
}

int send_byte(FdRef socket) {
  const char byte = 0;
  return ::send(socket.get(), &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? errno : 0;
}

}  // namespace sockhop::sys
