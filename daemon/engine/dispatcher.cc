#include "engine/dispatcher.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/restrictions.h"
#include "engine/undelivered.h"
#include "sys/socket_query.h"

namespace sockhop::engine {
namespace {

using core::Reason;
using sys::CallStage;

// Engines that die so often with the same call would do so for ever; a start takes 1 ms.
constexpr std::uint32_t kMaxResumes = 16;

// Slots that calls which wait for the network leave to the others.
constexpr std::size_t kReserve = 128;

bool waits(CallStage stage) {
  return stage == CallStage::waiting || stage == CallStage::reaching ||
         stage == CallStage::accepting;
}

bool is_accept_stage(CallStage stage) {
  return stage == CallStage::accepting || stage == CallStage::taking ||
         stage == CallStage::delivering;
}

void clear(sys::CallSlot& slot) {
  slot.stage = CallStage::idle;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // The id goes before the rest: half of a slot must not be taken for a call.
  slot.room = {};
  std::atomic_signal_fence(std::memory_order_seq_cst);
  slot = sys::CallSlot{};
  slot.host_fd = -1;
  slot.original_fd = -1;
}

/// The call begins once more; the notification itself stays in its room.
void forget_progress(sys::CallSlot& slot) {
  slot.stage = CallStage::idle;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // Numbers that a dead engine wrote before the stage named them are closed, or another file's.
  slot.host_fd = -1;
  slot.original_fd = -1;
  slot.duplicate_count = 0;
  slot.carried_count = 0;
  slot.hopped = 0;
  slot.original_cookie = 0;
  slot.host_cookie = 0;
  slot.fresh_cookie = 0;
  slot.deadline = 0;
  slot.value = 0;
  slot.error = 0;
}

}  // namespace

Dispatcher::Dispatcher(Parts parts) : parts_(parts) {
  const auto& memory = parts_.shared.memory;
  for (std::uint64_t i = sys::kMaxSlots; i-- > 0;) {
    const auto& slot = memory.slots[i];
    if (i >= memory.used_slots ||
        (slot.stage == CallStage::idle && sys::read_notification(slot.room).id == 0)) {
      free_.push_back(i);
    }
  }
}

void Dispatcher::add_notify(std::int32_t number, std::unique_ptr<sys::NotifyFd> notify) {
  notify_[number] = std::move(notify);
}

void Dispatcher::remove_notify(std::int32_t number) {
  auto& memory = parts_.shared.memory;
  for (std::uint64_t i = 0; i < memory.used_slots; ++i) {
    const auto& slot = memory.slots[i];
    if (waits(slot.stage) && slot.notify_fd == number) drop_waiting(i);
  }
  notify_.erase(number);
}

bool Dispatcher::receive(std::int32_t number) {
  if (free_.empty()) sweep();
  if (free_.empty()) return false;
  auto& memory = parts_.shared.memory;
  const std::uint64_t index = free_.back();
  sys::CallSlot& slot = memory.slots[index];
  memory.used_slots = std::max(memory.used_slots, static_cast<std::uint32_t>(index + 1));
  clear(slot);
  slot.notify_fd = number;
  if (!notify_.at(number)->receive(slot.room)) return true;  // gone before it was received
  free_.pop_back();
  parts_.shared.crowded = free_.size() < kReserve;
  ++memory.calls;
  work(index, &Dispatcher::dispatch);
  return true;
}

void Dispatcher::work(std::uint64_t index, Outcome (Dispatcher::*step)(ActiveCall&)) {
  sys::CallSlot& slot = parts_.shared.memory.slots[index];
  const auto notify = notify_.find(slot.notify_fd);
  if (notify == notify_.end()) return waits(slot.stage) ? drop_waiting(index) : release(index);
  ActiveCall call{slot, index, *notify->second, sys::read_notification(slot.room), nullptr};
  const bool waited = waits(slot.stage);
  auto tracee = sys::open_tracee(call.notification.thread, parts_.by_thread);
  Outcome outcome = stay_inside(Reason::daemon_error);
  if (tracee) {
    call.tracee = std::move(*tracee);
    outcome = (this->*step)(call);
  } else if (!call.still_waiting()) {
    parts_.listeners.abandon(slot);
    outcome = Gone{};
  }
  if (waited) --waiting_;
  finish(call, outcome);
}

Outcome Dispatcher::dispatch(ActiveCall& call) {
  return run(call, core::decode(call.notification.call));
}

Outcome Dispatcher::run(ActiveCall& call, const core::Call& decoded) {
  struct Visitor {
    Dispatcher& self;
    ActiveCall& call;
    Outcome operator()(const core::ConnectCall& c) { return self.parts_.connects.begin(call, c); }
    Outcome operator()(const core::BindCall& c) { return self.parts_.names.on_bind(call, c); }
    Outcome operator()(const core::ListenCall& c) { return self.on_listen(call, c); }
    Outcome operator()(const core::AcceptCall& c) { return self.on_accept(call, c); }
    Outcome operator()(const core::GetsocknameCall& c) {
      return self.parts_.names.on_getsockname(call, c);
    }
    Outcome operator()(const core::GetsockoptCall& c) {
      return self.parts_.names.on_getsockopt(call, c);
    }
    Outcome operator()(const core::SocketIoctlCall& c) {
      return self.parts_.names.on_ioctl(call, c);
    }
    Outcome operator()(const core::FastOpenCall& c) {
      return self.parts_.names.on_fastopen(call, c);
    }
    Outcome operator()(const core::EpollCreateCall&) {
      self.parts_.processes.epoll_created(*call.tracee);
      return stay_inside(Reason::not_ours);
    }
    Outcome operator()(const core::LandlockCall& c) {
      note_restriction(self.parts_.shared.memory, call, c.rules);
      return stay_inside(Reason::not_ours);
    }
    Outcome operator()(const core::SocketcallCall& c) { return self.dispatch_socketcall(call, c); }
    Outcome operator()(const core::OtherCall&) { return stay_inside(Reason::not_ours); }
  };
  return std::visit(Visitor{*this, call}, decoded);
}

/// What stays is run by the kernel, which reads the words again: another thread may have put others
/// there. That is no more than it can do to any other call that runs (dup2 and the bytes of the
/// name, attack.loopback.race_of_dup2), and calls of other families have to run: only the caller's
/// credentials and file system give the right answer to them. So what a host socket could suffer by
/// it is the leash's business, whichever call it was (attack.loopback.race_of_the_words_of_i386).
Outcome Dispatcher::dispatch_socketcall(ActiveCall& call, const core::SocketcallCall& asked) {
  std::array<std::uint32_t, 6> words{};
  const int count = core::socketcall_words(asked.number);
  const auto bytes =
      std::as_writable_bytes(std::span(words).first(static_cast<std::size_t>(count)));
  if (count > 0 && !call.tracee->read(asked.arguments, bytes)) return fail(EFAULT);
  if (!call.still_waiting()) return Gone{};
  return run(call, core::decode_socketcall(asked.number, words));
}

Outcome Dispatcher::on_listen(ActiveCall& call, const core::ListenCall& asked) {
  auto copy = call.tracee->borrow(asked.fd);
  if (!copy) return copy.error().code == EBADF ? fail(EBADF) : stay_inside(Reason::daemon_error);
  const auto facts = sys::query_socket(*copy, parts_.shared.cookies);
  if (!facts || !facts->may_listen_for_tcp()) return stay_inside(Reason::not_ours);
  if (facts->side == core::Side::host) return parts_.names.on_listen(call, asked.fd);
  if (facts->side != core::Side::container) return stay_inside(Reason::other_namespace);
  return parts_.listeners.on_listen(call, asked, std::move(*copy), *facts);
}

Outcome Dispatcher::on_accept(ActiveCall& call, const core::AcceptCall& asked) {
  if (!parts_.listeners.any()) return stay_inside(Reason::not_ours);
  auto copy = call.tracee->borrow(asked.fd);
  if (!copy) return copy.error().code == EBADF ? fail(EBADF) : stay_inside(Reason::daemon_error);
  const auto facts = sys::query_socket(*copy, parts_.shared.cookies);
  if (!facts || !facts->may_listen_for_tcp() || facts->side != core::Side::container) {
    return stay_inside(Reason::not_ours);
  }
  return parts_.listeners.on_accept(call, asked, std::move(*copy), *facts);
}

void Dispatcher::wake(std::uint64_t index) {
  if (index >= sys::kMaxSlots || !waits(parts_.shared.memory.slots[index].stage)) return;
  work(index, &Dispatcher::step_wake);
}

Outcome Dispatcher::step_wake(ActiveCall& call) {
  if (!call.still_waiting()) return step_gone(call);
  return is_accept_stage(call.slot.stage) ? parts_.listeners.woken(call)
                                          : parts_.connects.woken(call);
}

Outcome Dispatcher::step_gone(ActiveCall& call) {
  if (!is_accept_stage(call.slot.stage)) parts_.connects.abandon(call);
  return Gone{};
}

Outcome Dispatcher::step_sweep(ActiveCall& call) {
  return is_accept_stage(call.slot.stage) ? parts_.listeners.looked_after(call)
                                          : parts_.connects.looked_after(call);
}

Outcome Dispatcher::step_resume(ActiveCall& call) {
  sys::CallSlot& slot = call.slot;
  if (!call.still_waiting()) {
    // A connection that was taken for a caller who is gone goes to the next one.
    if (is_accept_stage(slot.stage)) return parts_.listeners.resume(call);
    parts_.connects.abandon(call);
    return Gone{};
  }
  // A call that only waits is not what the engine died of.
  if (!waits(slot.stage) && ++slot.resumed > kMaxResumes) return give_up(call);
  if (slot.stage == CallStage::answering) return Return{slot.value, slot.error};
  if (is_accept_stage(slot.stage)) return parts_.listeners.resume(call);
  if (slot.stage == CallStage::restoring && slot.error == 0) {
    // The socket of the container was wanted for the call itself, which has not been made yet.
    (void)parts_.connects.resume(call);
    forget_progress(slot);
    return dispatch(call);
  }
  if (slot.stage != CallStage::idle) return parts_.connects.resume(call);
  forget_progress(slot);
  return dispatch(call);
}

Outcome Dispatcher::give_up(ActiveCall& call) {
  if (call.slot.stage == CallStage::idle) return stay_inside(Reason::daemon_error);
  if (!is_accept_stage(call.slot.stage)) return fail(ECONNABORTED);
  // Run by the kernel it could get a bell for a connection.
  parts_.listeners.abandon(call.slot);
  return fail(ECONNABORTED);
}

void Dispatcher::resume_all() {
  auto& memory = parts_.shared.memory;
  for (std::uint64_t i = 0; i < memory.used_slots; ++i) {
    sys::CallSlot& slot = memory.slots[i];
    if (slot.stage == CallStage::idle && sys::read_notification(slot.room).id == 0) continue;
    if (waits(slot.stage)) ++waiting_;
    work(i, &Dispatcher::step_resume);
  }
}

bool Dispatcher::sweep() {
  auto& memory = parts_.shared.memory;
  for (std::uint64_t i = 0; i < memory.used_slots && waiting_ > 0; ++i) {
    const sys::CallSlot& slot = memory.slots[i];
    if (!waits(slot.stage)) continue;
    const auto notify = notify_.find(slot.notify_fd);
    const auto id = sys::read_notification(slot.room).id;
    const bool there = notify != notify_.end() && notify->second->still_waiting(id);
    if (there) {
      work(i, &Dispatcher::step_sweep);
    } else if (slot.stage == CallStage::reaching) {
      work(i, &Dispatcher::step_gone);
    } else {
      drop_waiting(i);
    }
  }
  return waiting_ > 0;
}

std::int64_t Dispatcher::next_deadline() const {
  const auto& memory = parts_.shared.memory;
  std::int64_t next = 0;
  for (std::uint64_t i = 0; i < memory.used_slots && waiting_ > 0; ++i) {
    const sys::CallSlot& slot = memory.slots[i];
    if (waits(slot.stage) && slot.deadline != 0 && (next == 0 || slot.deadline < next)) {
      next = slot.deadline;
    }
  }
  return next;
}

void Dispatcher::count(const ActiveCall& call, const Outcome& outcome) {
  auto& memory = parts_.shared.memory;
  if (const auto* inside = std::get_if<RunInside>(&outcome)) {
    ++memory.stays[static_cast<std::size_t>(inside->reason)];
  } else if (call.slot.hopped != 0) {
    ++memory.hops;
    call.slot.hopped = 0;
  }
}

void Dispatcher::finish(ActiveCall& call, const Outcome& outcome) {
  if (std::holds_alternative<Waiting>(outcome)) {
    call.slot.resumed = 0;
    ++waiting_;
    return;
  }
  count(call, outcome);
  if (std::holds_alternative<RunInside>(outcome)) {
    (void)call.notify.let_run(call.notification.id);
  } else if (const auto* result = std::get_if<Return>(&outcome)) {
    deliver(call, *result);
  }
  release(call.index);
}

void Dispatcher::deliver(ActiveCall& call, const Return& result) {
  sys::CallSlot& slot = call.slot;
  const bool accepted = slot.stage == CallStage::delivering;
  slot.value = result.value;
  slot.error = result.error;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  slot.stage = CallStage::answering;
  if (call.notify.answer(call.notification.id, result.value, result.error)) return;
  if (slot.host_cookie == 0) return;
  // Interrupted or killed: the kernel may restart the call, and finds the result under the socket.
  keep_undelivered(parts_.shared.memory,
                   {.cookie = accepted ? slot.original_cookie : slot.host_cookie,
                    .caller = call.tracee->identity(),
                    .value = result.value,
                    .error = result.error,
                    .age = 0,
                    .connection = accepted ? slot.host_cookie : 0});
}

void Dispatcher::drop_waiting(std::uint64_t index) {
  --waiting_;
  release(index);
}

void Dispatcher::release(std::uint64_t index) {
  sys::CallSlot& slot = parts_.shared.memory.slots[index];
  UniqueFd(std::exchange(slot.host_fd, -1)).reset();
  UniqueFd(std::exchange(slot.original_fd, -1)).reset();
  clear(slot);
  free_.push_back(index);
}

}  // namespace sockhop::engine
