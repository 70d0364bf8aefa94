// A seccomp notify fd: receive one call, ask whether it is still alive, answer it once.
//
// Facts that shape the interface (seccomp_unotify(2), Linux 6.18): NOTIF_RECV sleeps when nothing
// is pending whatever O_NONBLOCK says, so callers poll first and one reader serves an fd. ENOENT
// from any call means the notification is gone (its caller was killed or interrupted): an outcome,
// not a failure.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "base/unique_fd.h"
#include "core/call.h"

namespace sockhop::sys {

/// Room for struct seccomp_notif of this and later kernels.
inline constexpr std::size_t kNotificationRoom = 256;

struct Notification {
  std::uint64_t id = 0;
  /// Thread id of the caller in our pid namespace; 0 when it is not visible there.
  std::int32_t thread = 0;
  core::RawCall call;
};

/// Reads what receive() left in a slot. `room` has kNotificationRoom bytes.
Notification read_notification(std::span<const std::byte> room);

class NotifyFd {
 public:
  virtual ~NotifyFd() = default;
  /// Fills `room` (zeroed by this call first) with one notification. ENOENT/EINTR: nothing
  /// received.
  virtual Status receive(std::span<std::byte> room) = 0;
  virtual bool still_waiting(std::uint64_t id) = 0;
  /// Ends the call with `value`, or with -errno when `error` > 0. ENOENT: the caller is gone.
  virtual Status answer(std::uint64_t id, std::int64_t value, int error) = 0;
  /// Lets the kernel run the call as it is. The only maker of Continue in the tree.
  virtual Status let_run(std::uint64_t id) = 0;
  /// Installs a copy of `source` in the caller: at `*target` (replacing what is there), or at the
  /// lowest free number. Returns the number.
  virtual Result<int> install(std::uint64_t id, FdRef source, const int* target,
                              bool close_on_exec) = 0;
};

/// Serves the notify fd without owning it: its number lives in the session's table. Switches
/// SYNC_WAKE_UP on where the kernel has it (6.6) and `sync_wake_up` allows it.
std::unique_ptr<NotifyFd> open_notify_fd(FdRef fd, bool sync_wake_up);

}  // namespace sockhop::sys
