// Through which device an accepted connection came in (ip(7), IP_PKTOPTIONS; ipv6(7)).
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"

namespace sockhop::sys {

/// The loopback device has this index in every network namespace (LOOPBACK_IFINDEX).
inline constexpr int kLoopbackDevice = 1;

/// Interface index, from a socket whose listener reports arrivals. ENODATA: it does not.
Result<int> arrival_device(FdRef accepted, int family);

/// The device that a socket is bound to; 0 when none.
int bound_device(FdRef socket);

/// The option that reports arrivals, as the application would see it.
bool reports_arrivals(FdRef socket, int family);
void forget_arrival(FdRef accepted, int family);

}  // namespace sockhop::sys
