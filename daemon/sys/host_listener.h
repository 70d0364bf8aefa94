// What makes a reserved host endpoint a listener like the container's, and not one again.
#pragma once

#include <memory>

#include "base/result.h"
#include "base/unique_fd.h"
#include "core/endpoint.h"

namespace sockhop::sys {

/// A socket of `family` bound to the same address, without a moment in which the port is free: both
/// carry SO_REUSEPORT for the second bind (socket(7)) and neither afterwards. An IPv4 address in
/// AF_INET6 is the mapped one, so only IPv4 clients come in. `bound` is to be closed then; it keeps
/// SO_REUSEADDR, because another process may still hold it when the new socket listens, and without
/// the flag that would be EADDRINUSE.
Result<UniqueFd> bind_beside(FdRef bound, const core::Endpoint& host, int family);

/// listen(2) checks the port again (inet_csk_listen_start, 6.18): a connection in TIME_WAIT would
/// refuse it, so the flag that lets it pass is set for the moment of the call, as for the bind.
Status listen_at_endpoint(FdRef bound, int backlog);

/// Refuses connections from now on and resets those that wait; the port stays reserved, the socket
/// can listen again (shutdown(SHUT_RD) of a listener, net/ipv4/af_inet.c).
void stop_listening(FdRef listener);

/// The backlog that a listener was given (tcpi_sacked of a listening socket).
int listen_backlog(FdRef listener);

/// Lets accepted sockets remember the device they came in through (see arrival_device.h).
void report_arrivals(FdRef listener, int family);

/// Gives the host listener what its accepted sockets must inherit: the options that the container's
/// listener has and a fresh socket of its namespace has not.
class ListenerOptions {
 public:
  /// To be called on a thread inside the container's namespace.
  static Result<ListenerOptions> open();
  /// `family` is that of both sockets. What cannot be set is left out: the connection works
  /// without.
  void carry(FdRef container, FdRef host, int family) const;

 private:
  ListenerOptions(UniqueFd v4, UniqueFd v6) : v4_(std::move(v4)), v6_(std::move(v6)) {}
  UniqueFd v4_;  // fresh sockets to compare with
  UniqueFd v6_;
};

}  // namespace sockhop::sys
