// What can be told about a seccomp notify fd without reading from it.
#pragma once

#include "base/unique_fd.h"

namespace sockhop::sys {

/// Is the descriptor a seccomp notify fd at all?
bool is_notify_fd(FdRef descriptor);

/// Has the last task that used the filter gone (POLLHUP, seccomp_unotify(2))?
bool has_hung_up(FdRef notify);

}  // namespace sockhop::sys
