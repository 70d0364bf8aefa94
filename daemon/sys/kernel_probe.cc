#include "sys/kernel_probe.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "core/kernel_version.h"
#include "sys/linux_abi.h"

namespace sockhop::sys {

Status require_kernel() {
  utsname name{};
  if (::uname(&name) != 0) return errno_error("uname");
  if (!core::kernel_is_new_enough(name.release)) {
    return Error{ENOSYS, "kernel",
                 std::string("Linux ") + name.release + " is too old; sockhop needs 5.14 or newer"};
  }
  const std::uint32_t action = SECCOMP_RET_USER_NOTIF;
  if (::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) != 0) {
    return Error{ENOSYS, "kernel",
                 "seccomp user notification is missing; use a kernel with CONFIG_SECCOMP_FILTER"};
  }
  return {};
}

bool knows_wait_killable() {
  // Flags are looked at before the filter is read: EINVAL for one that is not known, EFAULT for the
  // filter that is not there (seccomp(2)).
  const unsigned long flags =
      SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, nullptr) != 0 && errno == EFAULT;
}

std::string kernel_release() {
  utsname name{};
  ::uname(&name);
  return name.release;
}

}  // namespace sockhop::sys
