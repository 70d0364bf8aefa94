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

}  // namespace sockhop::sys
