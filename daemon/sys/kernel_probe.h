// What the running kernel must have before the daemon starts.
#pragma once

#include <string>

#include "base/result.h"

namespace sockhop::sys {

/// ENOSYS with the remedy when the kernel is older than 5.14 or has no seccomp user notification.
Status require_kernel();

/// As uname -r tells it.
std::string kernel_release();

}  // namespace sockhop::sys
