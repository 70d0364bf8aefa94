// What Listeners does in accept: take a connection, hand it over, or let the caller wait.
#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>

#include "core/sockaddr.h"
#include "engine/caller_memory.h"
#include "engine/listeners.h"
#include "engine/undelivered.h"
#include "sys/clock.h"
#include "sys/epoll_set.h"
#include "sys/fd_facts.h"
#include "sys/host_socket.h"
#include "sys/socket_query.h"

namespace sockhop::engine {
namespace {

using core::Reason;
using sys::CallStage;

constexpr std::int64_t kRefreshNs = 1'000'000'000;
constexpr std::int64_t kScanNs = 50'000'000;
// Every so often the container's own queue comes first, so that neither starves the other.
constexpr std::uint32_t kInsideFirst = 8;
constexpr int kMaxLost = 16;

void set_stage(sys::CallSlot& slot, CallStage stage) {
  // Nothing that the stage promises may be written after it.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  slot.stage = stage;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

void close_taken(sys::CallSlot& slot) { UniqueFd(std::exchange(slot.host_fd, -1)).reset(); }

/// A blocking listener is made to answer at once for the moment of one call.
Result<sys::Accepted> accept_now(sys::CallSlot& slot, FdRef copy, bool nonblocking) {
  const auto flags = sys::status_flags(copy);
  const bool blocks = flags && (*flags & O_NONBLOCK) == 0;
  if (blocks) {
    // The next engine must know: nothing else tells it from the application's own flag.
    slot.unblocked = 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    (void)sys::set_status_flags(copy, *flags | O_NONBLOCK);
  }
  auto accepted = sys::accept_from(copy, nonblocking);
  if (blocks) {
    (void)sys::set_status_flags(copy, *flags);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    slot.unblocked = 0;
  }
  return accepted;
}

std::vector<std::byte> shown_name(const sys::CallSlot& slot) {
  core::Endpoint peer = slot.destination;
  // A connection that was reset meanwhile has no peer to tell.
  if (slot.family == AF_INET && !peer.address.is_v4()) peer = {core::Address::v4(0, 0, 0, 0), 0, 0};
  return core::make_sockaddr(peer, slot.family);
}

}  // namespace

Outcome Listeners::on_accept(ActiveCall& call, const core::AcceptCall& asked, UniqueFd copy,
                             const core::SocketFacts& facts) {
  if (facts.state != core::TcpState::listen || !ports_->reach(facts.local, facts.v6_only) ||
      (asked.flags & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) != 0) {
    return stay_inside(Reason::not_ours);
  }
  if (auto told = find_told(call, facts.cookie)) return *told;
  Listener* listener = known(facts, copy);
  if (listener == nullptr) return stay_inside(Reason::daemon_error);
  const std::int64_t now = sys::monotonic_ns();
  if (now - listener->options_read_at > kRefreshNs) {
    listener->options_read_at = now;
    ports_->refresh_options(*listener, copy);
  }
  listener->asked_at = now;
  sys::CallSlot& slot = call.slot;
  slot.fd = asked.fd;
  slot.family = facts.family;
  slot.status_flags = asked.flags & SOCK_NONBLOCK;
  slot.close_on_exec = (asked.flags & SOCK_CLOEXEC) != 0 ? 1 : 0;
  slot.name_pointer = asked.name;
  slot.length_pointer = asked.length_pointer;
  slot.original_cookie = facts.cookie;
  Outcome outcome = proceed(call, *listener, copy);
  if (shared_.crowded && std::holds_alternative<Waiting>(outcome)) {
    // Connects of the container need the slots that are left. Those who wait here are served
    // first, so a ring comes to a call that the kernel runs only when none of them is left.
    set_stage(slot, CallStage::idle);
    return stay_inside(Reason::over_budget);
  }
  return outcome;
}

Outcome Listeners::proceed(ActiveCall& call, Listener& listener, FdRef copy) {
  sys::CallSlot& slot = call.slot;
  const auto taken = take(call, listener, copy);
  if (taken) return deliver(call);
  if (taken.error().code != EAGAIN) {
    set_stage(slot, CallStage::idle);
    return fail(taken.error().code);
  }
  const auto flags = sys::status_flags(copy);
  const bool over = slot.deadline != 0 && sys::monotonic_ns() >= slot.deadline;
  if (over || (flags && (*flags & O_NONBLOCK) != 0)) {
    set_stage(slot, CallStage::idle);
    return fail(EAGAIN);
  }
  if (slot.deadline == 0) {
    if (const auto timeout = sys::timeout_of(copy, SO_RCVTIMEO)) {
      slot.deadline = sys::monotonic_ns() + *timeout;
    }
  }
  set_stage(slot, CallStage::accepting);
  return Waiting{};
}

Status Listeners::take(ActiveCall& call, Listener& listener, FdRef copy) {
  sys::CallSlot& slot = call.slot;
  set_stage(slot, CallStage::taking);
  if (++listener.turns % kInsideFirst == 0 && take_inside(slot, listener, copy)) return {};
  for (int lost = 0; lost < kMaxLost; ++lost) {
    const auto port = ports_->take(listener, slot);
    if (!port && port.error().code != EAGAIN) return port.error();
    if (!port) return take_inside(slot, listener, copy);
    const bool put_off_before = slot.stage == CallStage::delivering;
    if (put_off_before || accepted_->make_harmless(listener, **port, slot, copy)) {
      quieten(slot, listener, copy);
      return {};
    }
    close_taken(slot);  // a connection that cannot be handed over is reset
  }
  return Error{EAGAIN, "accept4"};
}

Status Listeners::take_inside(sys::CallSlot& slot, Listener& listener, FdRef copy) {
  while (sys::accept_queue_length(copy) > 0) {
    auto accepted = accept_now(slot, copy, (slot.status_flags & SOCK_NONBLOCK) != 0);
    if (!accepted) return accepted.error();
    if (listener.bell.is(accepted->peer)) {
      listener.bell.taken_out();
      continue;
    }
    slot.host_fd = accepted->fd.release();
    slot.destination = accepted->peer;
    return {};
  }
  return Error{EAGAIN, "accept4"};
}

void Listeners::quieten(sys::CallSlot& slot, Listener& listener, FdRef copy) {
  const unsigned rings = listener.bell.waiting();
  if (rings == 0 || !ports_->is_dry(listener)) return;
  if (sys::accept_queue_length(copy) != rings) return;
  for (unsigned i = 0; i < rings; ++i) {
    auto ring = accept_now(slot, copy, (slot.status_flags & SOCK_NONBLOCK) != 0);
    if (!ring) return;
    if (listener.bell.is(ring->peer)) {
      listener.bell.taken_out();
      continue;
    }
    // Rings of a dead engine were counted wrong: this one is a client inside.
    if (const HostPort* port = ports_->keep(listener, std::move(ring->fd))) this->ring(*port);
    return;
  }
}

Outcome Listeners::deliver(ActiveCall& call) {
  sys::CallSlot& slot = call.slot;
  const FdRef connection = FdRef::from_number(slot.host_fd);
  slot.host_cookie = sys::socket_cookie(connection);
  set_stage(slot, CallStage::delivering);
  const auto written = write_name(call, slot.name_pointer, slot.length_pointer, shown_name(slot));
  if (!written && written.error().code == ESRCH) return put_off(call, Gone{});
  if (!written) {  // the kernel drops the connection then, too
    close_taken(slot);
    set_stage(slot, CallStage::idle);
    return fail(written.error().code);
  }
  const auto number =
      call.notify.install(call.notification.id, connection, nullptr, slot.close_on_exec != 0);
  if (!number) {
    const int code = number.error().code;
    return put_off(call, code == ENOENT ? Outcome{Gone{}} : fail(code));
  }
  slot.value = *number;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  close_taken(slot);
  return Return{*number};
}

Outcome Listeners::put_off(ActiveCall& call, Outcome outcome) {
  keep_for_next(call.slot);
  set_stage(call.slot, CallStage::idle);
  return outcome;
}

void Listeners::keep_for_next(sys::CallSlot& slot) {
  if (slot.host_fd < 0) return;
  const Listener* listener = table_.find(slot.original_cookie);
  for (HostPort& port : ports_->all()) {
    if (listener == nullptr || !ListenerPorts::serves(port, *listener)) continue;
    ports_->give_back(port, slot);
    return ring(port);
  }
  close_taken(slot);
}

std::optional<Return> Listeners::find_told(ActiveCall& call, std::uint64_t cookie) {
  for (sys::Undelivered& one : shared_.memory.undelivered) {
    if (one.cookie != cookie || one.connection == 0) continue;
    const auto there = call.tracee->borrow(static_cast<int>(one.value));
    if (!there || sys::socket_cookie(*there) != one.connection) continue;
    const Return result{one.value, one.error};
    one.cookie = 0;
    one.age = 0;
    return result;
  }
  return std::nullopt;
}

Outcome Listeners::woken(ActiveCall& call) {
  sys::CallSlot& slot = call.slot;
  const auto copy = call.tracee->borrow(slot.fd);
  if (!copy || sys::socket_cookie(*copy) != slot.original_cookie) return fail(EBADF);
  if (sys::tcp_state(*copy) != core::TcpState::listen) return fail(EINVAL);
  const auto facts = sys::query_socket(*copy, shared_.cookies);
  if (!facts) return fail(EBADF);
  Listener* listener = known(*facts, *copy);
  if (listener == nullptr) return stay_inside(Reason::daemon_error);
  return proceed(call, *listener, *copy);
}

Outcome Listeners::looked_after(ActiveCall& call) {
  const Listener* listener = table_.find(call.slot.original_cookie);
  const bool over = call.slot.deadline != 0 && sys::monotonic_ns() >= call.slot.deadline;
  // A listener with a registration tells of its connections and of its end.
  if (listener != nullptr && listener->watched && !over) return Waiting{};
  return woken(call);
}

Outcome Listeners::resume(ActiveCall& call) {
  if (call.slot.unblocked != 0) {
    const auto copy = call.tracee->borrow(call.slot.fd);
    if (copy && sys::socket_cookie(*copy) == call.slot.original_cookie) {
      (void)sys::set_nonblocking(*copy, false);
    }
    call.slot.unblocked = 0;
  }
  if (call.slot.stage == CallStage::delivering) return resume_delivering(call);
  if (call.slot.stage == CallStage::taking) return resume_taking(call);
  return call.still_waiting() ? woken(call) : Outcome{Gone{}};
}

Outcome Listeners::resume_taking(ActiveCall& call) {
  sys::CallSlot& slot = call.slot;
  if (slot.host_fd >= 0 && !make_known(slot)) close_taken(slot);
  if (!call.still_waiting()) return put_off(call, Gone{});
  return slot.host_fd >= 0 ? deliver(call) : woken(call);
}

bool Listeners::make_known(sys::CallSlot& slot) {
  const FdRef connection = FdRef::from_number(slot.host_fd);
  const auto peer = sys::peer_name(connection);
  Listener* listener = table_.find(slot.original_cookie);
  if (listener == nullptr) return false;
  if (peer && listener->bell.is(*peer)) return false;
  if (peer) slot.destination = *peer;
  // Of the container itself, or one end of a pair already. Without a peer it was reset, and may be
  // a ring that was taken out: the next one is taken for the caller, as after a reset in the queue.
  if (sys::netns_cookie(connection) != shared_.cookies.host) return peer.has_value();
  const HostPort* port = ports_->of_connection(connection);
  return port != nullptr &&
         accepted_->make_harmless(*listener, *port, slot, FdRef::from_number(-1)).has_value();
}

Outcome Listeners::resume_delivering(ActiveCall& call) {
  sys::CallSlot& slot = call.slot;
  if (slot.host_fd >= 0) {
    const auto inode = sys::inode_of(FdRef::from_number(slot.host_fd));
    const auto found = sys::find_socket(call.notification.thread, inode, kScanNs);
    if (!found || found->empty()) {
      return call.still_waiting() ? deliver(call) : put_off(call, Gone{});
    }
    slot.value = found->front();
    close_taken(slot);
  }
  if (call.still_waiting()) return Return{slot.value};
  keep_undelivered(shared_.memory, {.cookie = slot.original_cookie,
                                    .caller = call.tracee->identity(),
                                    .value = slot.value,
                                    .error = 0,
                                    .age = 0,
                                    .connection = slot.host_cookie});
  return Gone{};
}

void Listeners::abandon(sys::CallSlot& slot) {
  if (slot.stage == CallStage::taking && slot.host_fd >= 0 && !make_known(slot)) close_taken(slot);
  if (slot.stage == CallStage::taking || slot.stage == CallStage::delivering) keep_for_next(slot);
}

}  // namespace sockhop::engine
