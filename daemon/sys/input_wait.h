// Sleeping until a descriptor has something to read; for threads that have nothing else to do.
#pragma once

#include "base/unique_fd.h"

namespace sockhop::sys {

/// True when there is something to read or the other side has gone; false when a signal has set
/// out to end the program (see end_on_signal).
bool sleep_until_readable(FdRef descriptor);

/// From now on SIGTERM and SIGINT make sleep_until_readable() answer false instead of ending the
/// process.
void end_on_signal();

}  // namespace sockhop::sys
