// What was asked of the kernel about one socket, at one moment.
#pragma once

#include <cstdint>
#include <optional>

#include "core/endpoint.h"

namespace sockhop::core {

/// The network namespace a socket belongs to (SO_NETNS_COOKIE, Linux 5.14), as seen by a session.
enum class Side { container, host, elsewhere };

enum class TcpState : std::uint8_t {
  established = 1,
  syn_sent,
  syn_recv,
  fin_wait1,
  fin_wait2,
  time_wait,
  close,
  close_wait,
  last_ack,
  listen,
  closing,
};

struct SocketFacts {
  int family = 0;    // AF_INET, AF_INET6, or anything else
  int type = 0;      // SOCK_STREAM, ...
  int protocol = 0;  // IPPROTO_TCP, IPPROTO_MPTCP, ...
  Side side = Side::elsewhere;
  std::uint64_t cookie = 0;          // SO_COOKIE: names the socket for its whole life
  TcpState state = TcpState::close;  // UDP: established when it has a peer, else close
  bool nonblocking = false;
  bool v6_only = false;
  /// Bound address; port 0 when unbound.
  Endpoint local;
  bool fastopen_connect = false;  // TCP_FASTOPEN_CONNECT
  bool bound_device = false;      // SO_BINDTODEVICE set by the application
  bool has_signal_owner = false;  // F_SETOWN or F_SETSIG in use

  [[nodiscard]] bool is_inet_tcp() const;
  /// MPTCP: to a listener, plain TCP connections come like any other (mptcp(7)).
  [[nodiscard]] bool is_multipath() const;
  [[nodiscard]] bool may_listen_for_tcp() const { return is_inet_tcp() || is_multipath(); }
  [[nodiscard]] bool is_inet_udp() const;
  /// One of the two kinds of sockets that can hop.
  [[nodiscard]] bool can_hop() const { return is_inet_tcp() || is_inet_udp(); }
  /// On the host side: a socket of ours. Each is bound to a device before a container gets it, and
  /// none can be freed from it there; one without came with the container (socket activation) and
  /// is left alone.
  [[nodiscard]] bool leashed() const { return bound_device; }
};

}  // namespace sockhop::core
