// Policy strict: a connection is made before its socket is handed over.
//
// While the host socket is on its way nobody but this session has it, and the caller's descriptor
// is what it was; what fails leaves no trace. When the caller does not wait any longer (a signal,
// SO_SNDTIMEO), its connection has to go on by itself: it is begun again, inside.
#include <sys/epoll.h>

#include <utility>

#include "engine/connect_flow.h"
#include "sys/clock.h"
#include "sys/host_socket.h"

namespace sockhop::engine {

using core::TcpState;
using sys::CallStage;
using sys::ConnectStage;

Outcome ConnectFlow::reach(ActiveCall& call, const Target& target, UniqueFd copy) {
  sys::CallSlot& slot = call.slot;
  // What cannot be carried is better known before anybody hears of the connection.
  if (!shared_.references.note_registrations(call, copy, target.fd)) {
    return stay_inside(core::Reason::epoll_unreadable);
  }
  const auto flags = sys::status_flags(copy);
  if (!flags) return stay_inside(core::Reason::daemon_error);
  slot.status_flags = *flags;
  const FdRef way = FdRef::from_number(slot.host_fd);
  if (const auto timeout = sys::timeout_of(way, SO_SNDTIMEO)) {
    slot.deadline = sys::monotonic_ns() + *timeout;
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  slot.stage = CallStage::reaching;
  return reached(call, sys::start_connect(way, slot.destination, slot.family));
}

Outcome ConnectFlow::reached(ActiveCall& call, const sys::ConnectOutcome& outcome) {
  sys::CallSlot& slot = call.slot;
  const FdRef way = FdRef::from_number(slot.host_fd);
  if (outcome.stage == ConnectStage::in_progress) {
    (void)shared_.waits.watch(way, EPOLLOUT | EPOLLIN | EPOLLERR | EPOLLHUP, call.index);
    return Waiting{};
  }
  const bool connected =
      outcome.stage == ConnectStage::done || outcome.stage == ConnectStage::already;
  // The host socket is closed with the slot: an engine that dies before the answer leaves it to the
  // next one.
  if (!connected) {
    if (outcome.error == EHOSTUNREACH) shared_.paths.forget(slot.destination.address);
    return fail(outcome.error);
  }
  auto copy = call.tracee->borrow(slot.fd);
  if (!copy || sys::socket_cookie(*copy) != slot.original_cookie) return fail(EBADF);
  const auto facts = sys::query_socket(*copy, shared_.cookies);
  if (!facts) return stay_inside(core::Reason::daemon_error);
  if (facts->state != TcpState::close) return stay_inside(core::Reason::already_used);
  // The caller's other threads had time to change these.
  slot.carried_count = 0;
  slot.duplicate_count = 0;
  const Target target{.destination = slot.destination, .facts = *facts, .fd = slot.fd};
  return place(call, target, std::move(*copy));
}

Outcome ConnectFlow::look_at_way(ActiveCall& call) {
  sys::CallSlot& slot = call.slot;
  // An engine died while it gave up.
  if (slot.host_fd < 0) return leave_inside(call, fail(slot.timeout_error));
  const FdRef way = FdRef::from_number(slot.host_fd);
  if (sys::tcp_state(way) != TcpState::syn_sent) {
    const auto outcome = sys::take_connect_result(way);
    // An engine died before it began, or with the errno in its hands.
    const bool again = outcome.stage == ConnectStage::unconnected;
    return reached(call, again ? sys::start_connect(way, slot.destination, slot.family) : outcome);
  }
  if (slot.deadline != 0 && sys::monotonic_ns() >= slot.deadline) {
    return give_up_way(call, fail(slot.timeout_error));
  }
  return reached(call, {ConnectStage::in_progress, 0});
}

Outcome ConnectFlow::give_up_way(ActiveCall& call, Outcome outcome) {
  sys::CallSlot& slot = call.slot;
  if (slot.host_fd < 0) return outcome;  // the restarted call has taken it over
  close_fds(slot);
  return leave_inside(call, outcome);
}

Outcome ConnectFlow::leave_inside(ActiveCall& call, Outcome outcome) {
  sys::CallSlot& slot = call.slot;
  auto copy = call.tracee->borrow(slot.fd);
  if (copy && sys::socket_cookie(*copy) == slot.original_cookie) {
    slot.original_fd = copy->release();
    begin_inside(call);
    close_fds(slot);
  }
  return outcome;
}

/// A call that the kernel restarts goes on with what it had begun; another thread that connects the
/// same socket is told so.
std::optional<Outcome> ConnectFlow::take_over_way(ActiveCall& call, const Target& target) {
  auto& memory = shared_.memory;
  if (!shared_.policy.strict) return std::nullopt;
  for (std::uint32_t i = 0; i < memory.used_slots; ++i) {
    sys::CallSlot& other = memory.slots[i];
    if (&other == &call.slot || other.stage != CallStage::reaching || other.host_fd < 0 ||
        other.original_cookie != target.facts.cookie) {
      continue;
    }
    if (call.notify.still_waiting(sys::read_notification(other.room).id)) return fail(EALREADY);
    sys::CallSlot& slot = call.slot;
    slot.fd = target.fd;
    slot.family = other.family;
    slot.device = other.device;
    slot.reason = other.reason;
    slot.destination = other.destination;
    slot.original_cookie = other.original_cookie;
    slot.timeout_error = other.timeout_error;
    slot.host_cookie = other.host_cookie;
    slot.status_flags = other.status_flags;
    slot.host_fd = other.host_fd;
    if (const auto timeout = sys::timeout_of(FdRef::from_number(slot.host_fd), SO_SNDTIMEO)) {
      slot.deadline = sys::monotonic_ns() + *timeout;
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    slot.stage = CallStage::reaching;
    other.host_fd = -1;
    return look_at_way(call);
  }
  return std::nullopt;
}

}  // namespace sockhop::engine
