// Asks the kernel about one socket: whose it is, what it is, what state it is in.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "base/unique_fd.h"
#include "core/socket_facts.h"

namespace sockhop::sys {

/// SO_NETNS_COOKIE of the two namespaces a session cares about.
struct NetnsCookies {
  std::uint64_t host = 0;
  std::uint64_t container = 0;
};

/// The domain only: the first question, which most calls that are not ours end at. 0 when the
/// descriptor is no socket.
int socket_domain(FdRef fd);

/// Everything a decision needs. Error ENOTSOCK when the descriptor is no socket.
Result<core::SocketFacts> query_socket(FdRef fd, const NetnsCookies& cookies);

/// SO_COOKIE; 0 when the descriptor is no socket.
std::uint64_t socket_cookie(FdRef fd);
/// SO_NETNS_COOKIE; 0 when the descriptor is no inet socket.
std::uint64_t netns_cookie(FdRef fd);
core::TcpState tcp_state(FdRef fd);
/// Connections that wait in a listener's accept queue (tcpi_unacked of a listening socket).
std::uint32_t accept_queue_length(FdRef listener);

Result<core::Endpoint> local_name(FdRef fd);
Result<core::Endpoint> peer_name(FdRef fd);

/// SO_SNDTIMEO or SO_RCVTIMEO in nanoseconds; nothing when unlimited.
std::optional<std::int64_t> timeout_of(FdRef fd, int option);

}  // namespace sockhop::sys
