// Host addresses of published ports, reserved before anybody listens on them.
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"
#include "core/port_table.h"

namespace sockhop::sys {

/// A bound TCP socket that does not listen: connections are refused until the application listens.
/// IPv6 addresses are V6ONLY. Neither SO_REUSEADDR nor SO_REUSEPORT is left set, so that no other
/// socket can be bound beside it. Errors name the address: EADDRINUSE, EACCES (a port below
/// net.ipv4.ip_unprivileged_port_start), EADDRNOTAVAIL.
Result<UniqueFd> bind_host_endpoint(const core::PublishedPort& port);

/// For an accepted connection of an endpoint: once it lies in TIME_WAIT it does not keep the port
/// from the endpoint's next life. Both need SO_REUSEADDR for that (socket(7)), and the endpoint,
/// from which it is inherited, has none.
void let_port_be_bound(FdRef connection);

}  // namespace sockhop::sys
