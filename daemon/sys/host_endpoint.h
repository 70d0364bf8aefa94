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

}  // namespace sockhop::sys
