// The socket that rings: bound once, connected to a listener again and again under the same name.
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"
#include "core/endpoint.h"

namespace sockhop::sys {

/// Bound to `from` and a port that it keeps when it is disconnected: only an explicit bind does
/// (SOCK_BINDPORT_LOCK). On a thread inside the container's namespace.
Result<UniqueFd> make_bell_socket(const core::Address& from, int family);

/// One byte, for listeners with TCP_DEFER_ACCEPT. Gives the errno; EAGAIN while the connection is
/// not there yet.
int send_byte(FdRef socket);

}  // namespace sockhop::sys
