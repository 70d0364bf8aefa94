// One notified call while the engine works on it, and what can come of it.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "core/socket_facts.h"
#include "core/verdict.h"
#include "sys/notify_fd.h"
#include "sys/session_memory.h"
#include "sys/tracee.h"

namespace sockhop::engine {

/// Lives for one step; what must outlive it is in the slot.
struct ActiveCall {
  sys::CallSlot& slot;
  std::uint64_t index;  // of the slot
  sys::NotifyFd& notify;
  sys::Notification notification;
  std::unique_ptr<sys::Tracee> tracee;

  [[nodiscard]] bool still_waiting() const { return notify.still_waiting(notification.id); }
};

/// The kernel runs the call in the container.
struct RunInside {
  core::Reason reason;
};
/// The call ends with `value`, or with -error.
struct Return {
  std::int64_t value = 0;
  int error = 0;
};
/// The caller waits; the slot says for what.
struct Waiting {};
/// The caller is gone, or was interrupted; nothing is to be answered.
struct Gone {};

/// Handlers return one of these; the dispatcher alone answers the kernel.
using Outcome = std::variant<RunInside, Return, Waiting, Gone>;

inline Outcome fail(int error) { return Return{-1, error}; }
inline Outcome stay_inside(core::Reason reason) { return RunInside{reason}; }

}  // namespace sockhop::engine
