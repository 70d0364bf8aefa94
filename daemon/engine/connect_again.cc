// A host socket of ours is connected again: what the kernel would say, or a new decision.
#include <fcntl.h>
#include <sys/socket.h>

#include <utility>

#include "engine/connect_flow.h"
#include "engine/undelivered.h"
#include "sys/arrival_device.h"
#include "sys/clock.h"
#include "sys/host_socket.h"

namespace sockhop::engine {

using core::Reason;
using core::TcpState;
using sys::CallStage;
using sys::ConnectStage;

namespace {

/// 0 when there is no socket. The copy is closed: it would be a reference of ours.
std::uint64_t cookie_at(ActiveCall& call, std::int32_t number) {
  const auto there = call.tracee->borrow(number);
  return there ? sys::socket_cookie(*there) : 0;
}

}  // namespace

Outcome ConnectFlow::again(ActiveCall& call, const Target& target, UniqueFd host) {
  if (auto told = take_undelivered(shared_.memory, target.facts.cookie)) return *told;
  sys::CallSlot& slot = call.slot;
  slot.fd = target.fd;
  slot.family = target.facts.family;
  const auto flags = sys::status_flags(host);
  slot.status_flags = flags ? *flags : 0;
  slot.destination = target.destination;
  slot.host_cookie = target.facts.cookie;
  if (target.facts.state == TcpState::syn_sent) {
    if (target.facts.nonblocking) return fail(EALREADY);
    slot.timeout_error = EALREADY;
    if (const auto timeout = sys::timeout_of(host, SO_SNDTIMEO)) {
      slot.deadline = sys::monotonic_ns() + *timeout;
    }
    return wait(call, host);
  }
  const bool asked_before = std::exchange(slot.asked, 1) != 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const auto outcome = sys::take_connect_result(host);
  switch (outcome.stage) {
    case ConnectStage::done:
      return Return{};
    case ConnectStage::already:
      // It may be a dead engine that was told.
      return asked_before ? Outcome{Return{}} : fail(EISCONN);
    case ConnectStage::in_progress:
      return fail(EALREADY);
    case ConnectStage::unconnected:
      return anew(call, target, std::move(host));
    case ConnectStage::failed:
      break;
  }
  if (!shared_.references.note_registrations(call, host, target.fd)) return fail(outcome.error);
  (void)shared_.references.note_duplicates(call, host);
  return restore(call, host, outcome.error);
}

Outcome ConnectFlow::again_udp(ActiveCall& call, const Target& target, UniqueFd host) {
  if (auto told = take_undelivered(shared_.memory, target.facts.cookie)) return *told;
  Target as_inside = target;
  as_inside.facts.side = core::Side::container;
  as_inside.facts.bound_device = false;
  as_inside.facts.local = {};
  as_inside.facts.state = TcpState::close;
  const core::Verdict verdict = decide(call, as_inside);
  const auto* hop_verdict = std::get_if<core::Hop>(&verdict);
  // Another peer by the same way: the socket keeps its port and what it has received.
  if (hop_verdict != nullptr && sys::bound_device(host) == hop_verdict->device) {
    const auto outcome = sys::start_connect(host, target.destination, target.facts.family);
    return outcome.stage == ConnectStage::failed ? fail(outcome.error) : Outcome{Return{}};
  }
  const auto* stay = std::get_if<core::Stay>(&verdict);
  if (stay == nullptr) return anew(call, as_inside, std::move(host));
  const auto peer = sys::peer_name(host);
  if (!put_inside(call, target.fd, host, target.facts.family)) return fail(EBADF);
  host.reset();
  // A connected socket keeps its source address when it is connected again (ip4_datagram_connect);
  // this one has it of the peer that it had. Nothing is sent.
  const auto fresh = call.tracee->borrow(target.fd);
  if (fresh && peer) (void)sys::start_connect(*fresh, *peer, target.facts.family);
  return stay_inside(stay->reason);
}

Outcome ConnectFlow::anew(ActiveCall& call, const Target& target, UniqueFd host) {
  // Decided as the socket of the container that it stands for; the leash is ours.
  Target as_inside = target;
  as_inside.facts.side = core::Side::container;
  as_inside.facts.bound_device = false;
  as_inside.facts.local = {};
  const core::Verdict verdict = decide(call, as_inside);
  if (const auto* deny = std::get_if<core::Deny>(&verdict)) return fail(deny->error);
  if (!put_inside(call, target.fd, host, target.facts.family)) return fail(EBADF);
  host.reset();
  const auto* hop_verdict = std::get_if<core::Hop>(&verdict);
  if (hop_verdict == nullptr) return stay_inside(std::get<core::Stay>(verdict).reason);
  auto fresh = call.tracee->borrow(target.fd);
  if (!fresh) return fail(EBADF);
  const auto facts = sys::query_socket(*fresh, shared_.cookies);
  if (!facts || facts->side != core::Side::container) return fail(EBADF);
  call.slot.carried_count = 0;
  call.slot.duplicate_count = 0;
  as_inside.facts = *facts;
  return hop(call, as_inside, *hop_verdict, std::move(*fresh));
}

Outcome ConnectFlow::disconnect(ActiveCall& call, const Target& target, FdRef host) {
  // It would take the leash off a UDP socket (__udp_disconnect).
  if (target.facts.is_inet_udp()) {
    return put_inside(call, target.fd, host, target.facts.family) ? Outcome{Return{}} : fail(EBADF);
  }
  // The socket keeps what a socket shows after that (ECONNRESET); the next connect, bind or listen
  // puts one of the container in its place.
  if (auto done = sys::shut_down_association(host); !done) return fail(done.error().code);
  if (!shared_.policy.strict) return Return{};
  return put_inside(call, target.fd, host, target.facts.family) ? Outcome{Return{}} : fail(EBADF);
}

Outcome ConnectFlow::resume(ActiveCall& call) {
  sys::CallSlot& slot = call.slot;
  const std::uint64_t cookie = cookie_at(call, slot.fd);
  switch (slot.stage) {
    case CallStage::reaching:
      return look_at_way(call);
    case CallStage::prepared:
      if (cookie == slot.original_cookie) return install(call);
      if (cookie != slot.host_cookie) break;
      slot.stage = CallStage::installed;
      [[fallthrough]];
    case CallStage::installed:
      if (cookie != slot.host_cookie && cookie != slot.original_cookie) break;
      return resume_installed(call);
    case CallStage::connecting:
      if (cookie != slot.host_cookie) break;
      return start_over(call);
    case CallStage::waiting:
      // The wait set went with the engine that made it.
      return woken(call);
    case CallStage::restoring:
      return resume_restoring(call);
    default:
      break;
  }
  close_fds(slot);
  return fail(EBADF);
}

Outcome ConnectFlow::resume_restoring(ActiveCall& call) {
  sys::CallSlot& slot = call.slot;
  const auto there = call.tracee->borrow(slot.fd);
  const std::uint64_t cookie = there ? sys::socket_cookie(*there) : 0;
  if (there && cookie == slot.host_cookie) return restore(call, *there, slot.error);
  if (there && cookie == slot.fresh_cookie) {
    (void)shared_.references.replace(call, *there, slot.host_cookie);
    slot.host_cookie = slot.fresh_cookie;
  }
  close_fds(slot);
  return fail(slot.error != 0 ? slot.error : EBADF);
}

Outcome ConnectFlow::resume_installed(ActiveCall& call) {
  sys::CallSlot& slot = call.slot;
  if (cookie_at(call, slot.fd) == slot.original_cookie) {
    // It is shared, and was being put back.
    if (const auto there = call.tracee->borrow(slot.fd)) {
      (void)shared_.references.replace(call, *there, slot.host_cookie);
    }
    close_fds(slot);
    return stay_inside(Reason::shared);
  }
  // The set that knew of the original went with the engine that made it.
  if (slot.original_fd >= 0) {
    (void)shared_.references.watch_last(FdRef::from_number(slot.original_fd));
  }
  return settle(call);
}

Outcome ConnectFlow::start_over(ActiveCall& call) {
  sys::CallSlot& slot = call.slot;
  if (slot.host_fd < 0) {
    auto host = call.tracee->borrow(slot.fd);
    if (!host || sys::socket_cookie(*host) != slot.host_cookie) return fail(EBADF);
    slot.host_fd = host->release();
  }
  // The flags may be the application's again: nothing here may wait.
  (void)sys::set_nonblocking(FdRef::from_number(slot.host_fd), true);
  return start(call);
}

/// The caller was interrupted before the hop. EINTR means that the connection goes on by itself
/// (connect(2)), so the attempt is made on the socket that it has; a call that the kernel restarts
/// goes on with it.
void ConnectFlow::begin_inside(ActiveCall& call) {
  sys::CallSlot& slot = call.slot;
  const FdRef original = FdRef::from_number(slot.original_fd);
  (void)sys::set_nonblocking(original, true);
  const auto outcome = sys::start_connect(original, slot.destination, slot.family);
  (void)sys::set_status_flags(original, slot.status_flags);
  if (outcome.stage == ConnectStage::in_progress && (slot.status_flags & O_NONBLOCK) == 0) return;
  Return result{-1, EINPROGRESS};
  if (outcome.stage == ConnectStage::failed) result.error = outcome.error;
  if (outcome.stage == ConnectStage::done) result = Return{};
  keep_undelivered(shared_.memory, {.cookie = slot.original_cookie,
                                    .caller = call.tracee->identity(),
                                    .value = result.value,
                                    .error = result.error,
                                    .age = 0,
                                    .connection = 0});
}

void ConnectFlow::abandon(ActiveCall& call) {
  sys::CallSlot& slot = call.slot;
  const auto there = call.tracee->borrow(slot.fd);
  if (slot.stage == CallStage::reaching) {
    (void)give_up_way(call, Gone{});
    return;
  }
  if (slot.stage == CallStage::prepared && there &&
      sys::socket_cookie(*there) == slot.original_cookie) {
    return begin_inside(call);
  }
  if (!there || sys::socket_cookie(*there) != slot.host_cookie) return;
  Return result{slot.value, slot.error};
  switch (slot.stage) {
    case CallStage::prepared:
    case CallStage::installed:
      shared_.references.follow(call);
      [[fallthrough]];
    case CallStage::connecting:
      (void)sys::set_status_flags(*there, slot.status_flags);
      if (sys::tcp_state(*there) != TcpState::syn_sent) return;
      if ((slot.status_flags & O_NONBLOCK) == 0) return;  // it waits for the same attempt again
      result = {-1, EINPROGRESS};
      break;
    case CallStage::answering:
      // Told or not: nobody can know. What failed shows again by itself.
      if (result.error != 0 && result.error != EINPROGRESS) return;
      break;
    default:
      return;
  }
  keep_undelivered(shared_.memory, {.cookie = slot.host_cookie,
                                    .caller = call.tracee->identity(),
                                    .value = result.value,
                                    .error = result.error,
                                    .age = 0,
                                    .connection = 0});
}

}  // namespace sockhop::engine
