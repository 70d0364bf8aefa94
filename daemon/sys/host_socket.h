// TCP sockets that a session makes and connects: on the host, and fresh ones inside.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "base/unique_fd.h"
#include "core/endpoint.h"

namespace sockhop::sys {

/// A non-blocking TCP socket of the calling thread's network namespace.
Result<UniqueFd> make_tcp_socket(int family);
/// The same of the type of another: SOCK_STREAM is TCP, SOCK_DGRAM is UDP.
Result<UniqueFd> make_socket_like(int family, FdRef other);

/// The leash: binds a socket to one device for its whole life. Nobody without CAP_NET_RAW over the
/// socket's namespace can undo it (socket(7), SO_BINDTODEVICE; unprivileged since 5.7).
Status bind_to_device(FdRef socket, int device);

/// What connect(2) or a later look at the connection says.
enum class ConnectStage {
  done,         // 0: connected, told for the first time
  already,      // EISCONN
  in_progress,  // EINPROGRESS or EALREADY
  unconnected,  // never tried, or its failure was told
  failed,       // see error
};
struct ConnectOutcome {
  ConnectStage stage = ConnectStage::failed;
  int error = 0;  // errno when failed
};

/// Starts a connection. The socket must be non-blocking.
ConnectOutcome start_connect(FdRef socket, const core::Endpoint& destination, int family);

/// Takes the result of a connection as a second connect(2) would, without an address: a family that
/// TCP does not know is looked at only when the socket is unconnected, and refused then
/// (EAFNOSUPPORT; net/ipv4/af_inet.c, __inet_stream_connect). Does not wait unless the socket is
/// blocking and in SYN_SENT.
ConnectOutcome take_connect_result(FdRef socket);

/// Sets or clears O_NONBLOCK, leaving the other status flags.
Status set_nonblocking(FdRef socket, bool nonblocking);
/// O_NONBLOCK, O_ASYNC: the status flags an application can set on a socket.
Result<int> status_flags(FdRef socket);
Status set_status_flags(FdRef socket, int flags);

Status shut_down_association(FdRef socket);  // connect(AF_UNSPEC)
Status listen_on(FdRef socket, int backlog);

/// accept4 of a non-blocking or readable listener; close-on-exec here, whatever the caller wants.
struct Accepted {
  UniqueFd fd;
  core::Endpoint peer;
};
Result<Accepted> accept_from(FdRef listener, bool nonblocking);

}  // namespace sockhop::sys
