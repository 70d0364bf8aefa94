// Whether a descriptor has something now.
#pragma once

#include "base/unique_fd.h"

namespace sockhop::sys {

struct Ready {
  bool readable = false;
  bool hung_up = false;
};

/// poll(2) without waiting.
Ready poll_now(FdRef fd);

/// Waits until there is something to read, or the other side is gone.
void wait_readable(FdRef fd);
/// The same for at most `ms` milliseconds.
void wait_readable_for(FdRef fd, int ms);
/// Waits for `fd`; false as soon as `stop` has something or its other side is gone, and when the
/// kernel cannot wait.
bool wait_readable_unless(FdRef fd, FdRef stop);

}  // namespace sockhop::sys
