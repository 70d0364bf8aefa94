// What the running kernel must have before the daemon starts.
#pragma once

#include <string>

#include "base/result.h"

namespace sockhop::sys {

/// ENOSYS with the remedy when the kernel is older than 5.14 or has no seccomp user notification.
Status require_kernel();

/// Does the kernel know SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (5.19)? Asked, not told by a
/// version: distributions carry it back.
bool knows_wait_killable();

/// As uname -r tells it.
std::string kernel_release();

}  // namespace sockhop::sys
