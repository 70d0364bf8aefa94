// The calls beside connect, listen and accept: what they show and do when the socket is a host
// socket.
//
// A socket of the container is left to the kernel in every one of them.
#pragma once

#include "core/port_table.h"
#include "engine/connect_flow.h"

namespace sockhop::engine {

class NameCalls {
 public:
  NameCalls(Shared& shared, ConnectFlow& connects, sys::WorkerThread& container,
            const std::vector<core::PublishedPort>& ports)
      : shared_(shared), connects_(connects), container_(container), ports_(ports) {}

  /// Shows what the container would see without sockhop: computed from the route and the port
  /// table.
  Outcome on_getsockname(ActiveCall& call, const core::GetsocknameCall& asked);
  /// The bound device is the leash, not the application's: none is shown.
  Outcome on_getsockopt(ActiveCall& call, const core::GetsockoptCall& asked);
  /// Interface requests are answered from the container's namespace.
  Outcome on_ioctl(ActiveCall& call, const core::SocketIoctlCall& asked);
  /// Sends with MSG_FASTOPEN: a connected host socket says what the kernel says; another one is
  /// replaced by a socket of the container first.
  Outcome on_fastopen(ActiveCall& call, const core::FastOpenCall& asked);
  /// bind and listen need a socket of the container; a socket that is none of ours runs inside.
  Outcome on_bind(ActiveCall& call, const core::BindCall& asked);
  Outcome on_listen(ActiveCall& call, std::int32_t fd);

 private:
  struct Borrowed {
    UniqueFd fd;
    core::SocketFacts facts;
  };
  std::variant<Borrowed, Outcome> borrow_host(ActiveCall& call, std::int32_t fd);
  Outcome take_inside(ActiveCall& call, std::int32_t number, FdRef fd,
                      const core::SocketFacts& facts);
  core::Endpoint shown_name(FdRef host, const core::SocketFacts& facts);

  Shared& shared_;
  ConnectFlow& connects_;
  sys::WorkerThread& container_;
  const std::vector<core::PublishedPort>& ports_;
};

}  // namespace sockhop::engine
