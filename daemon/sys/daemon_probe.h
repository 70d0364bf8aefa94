// Is sockhopd there and well? Asked by programs that must not hang when it is not.
#pragma once

#include <chrono>

#include "base/result.h"
#include "sys/runtime_dir.h"

namespace sockhop::sys {

/// Both sockets are there and ours to use, and the control socket answers within `patience`: a gRPC
/// server speaks first (its SETTINGS frame, RFC 9113 section 3.4), and before that the keeper has
/// to accept the connection, so the greeting proves that both processes run. Needs no gRPC library.
/// Errors: ENOENT, EACCES or ECONNREFUSED of a socket; ETIMEDOUT; ECONNRESET when the daemon
/// refuses this process.
Status probe_daemon(const RuntimeDir& dir, std::chrono::milliseconds patience);

}  // namespace sockhop::sys
