#include "engine/connect_flow.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <utility>

#include "core/decide.h"
#include "core/sockaddr.h"
#include "engine/caller_memory.h"
#include "engine/restrictions.h"
#include "engine/undelivered.h"
#include "sys/clock.h"
#include "sys/fd_facts.h"
#include "sys/host_socket.h"
#include "sys/socket_options.h"
#include "sys/splice.h"

namespace sockhop::engine {
namespace {

using core::Reason;
using core::TcpState;
using sys::CallStage;
using sys::ConnectStage;

constexpr std::uint32_t kConnectEvents = EPOLLOUT | EPOLLIN | EPOLLERR | EPOLLHUP;

constexpr int kMaxRounds = 128;  // of a few duplicates each

bool is_inet(int family) { return family == AF_INET || family == AF_INET6; }

void set_stage(sys::CallSlot& slot, CallStage stage) {
  // Nothing that the stage promises may be written after it.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  slot.stage = stage;
}

/// How the kernel refuses a name for a UDP socket, 0 when it does not (ip4_datagram_connect,
/// __ip6_datagram_connect): its association is kept then.
int udp_name_error(const core::SocketFacts& facts, const core::InetName* name, std::size_t size) {
  const bool v4 = facts.family == AF_INET;
  if (name != nullptr && (name->family == facts.family || (!v4 && !facts.v6_only))) return 0;
  constexpr std::size_t kShortest6 = 24;  // SIN6_LEN_RFC2133
  return size < (v4 ? sizeof(sockaddr_in) : kShortest6) ? EINVAL : EAFNOSUPPORT;
}

/// The copy that is looked at is closed here: one that lives on would be a reference of ours.
bool names_socket(ActiveCall& call, std::int32_t number, std::uint64_t cookie) {
  const auto there = call.tracee->borrow(number);
  return there && sys::socket_cookie(*there) == cookie;
}

}  // namespace

Outcome ConnectFlow::begin(ActiveCall& call, const core::ConnectCall& asked) {
  auto copy = call.tracee->borrow(asked.fd);
  if (!copy) return copy.error().code == EBADF ? fail(EBADF) : stay_inside(Reason::daemon_error);
  if (!is_inet(sys::socket_domain(*copy))) return stay_inside(Reason::not_ours);
  const auto facts = sys::query_socket(*copy, shared_.cookies);
  if (!facts || !facts->can_hop()) return stay_inside(Reason::not_ours);
  if (facts->side == core::Side::elsewhere) return stay_inside(Reason::other_namespace);
  const bool on_host = facts->side == core::Side::host;
  if (on_host && !facts->leashed()) return stay_inside(Reason::came_with_container);

  std::array<std::byte, core::kMaxSockaddr> room;
  const auto name = read_sockaddr(call, asked.name, room);
  if (!name) return fail(name.error().code);
  if (!call.still_waiting()) return Gone{};
  const auto parsed = core::parse_sockaddr(*name);

  Target target{.destination = {}, .facts = *facts, .fd = asked.fd};
  if (std::holds_alternative<core::Disconnect>(parsed)) {
    return on_host ? disconnect(call, target, *copy) : stay_inside(Reason::not_ours);
  }
  const auto* inet = std::get_if<core::InetName>(&parsed);
  if (on_host && facts->is_inet_udp()) {
    if (const int error = udp_name_error(*facts, inet, name->size())) return fail(error);
    target.destination = inet->endpoint;
    return again_udp(call, target, std::move(*copy));
  }
  if (on_host) {
    if (name->size() < sizeof(sa_family_t)) return fail(EINVAL);
    if (inet != nullptr) target.destination = inet->endpoint;
    if (inet == nullptr || inet->family != facts->family) {
      // The kernel looks at the family only when the socket is not connecting or connected.
      if (facts->state == TcpState::close) {
        return fail(std::holds_alternative<core::TooShort>(parsed) ? EINVAL : EAFNOSUPPORT);
      }
    }
    return again(call, target, std::move(*copy));
  }
  if (inet == nullptr || inet->family != facts->family) return stay_inside(Reason::not_ours);
  target.destination = inet->endpoint;
  return choose(call, target, std::move(*copy));
}

core::Verdict ConnectFlow::decide_for(const core::Endpoint& destination,
                                      const core::SocketFacts& facts) {
  if (auto early = core::decide_before_route(destination, facts, shared_.policy)) {
    return *early;
  }
  Path path = shared_.paths.find(destination);
  const bool hops = std::holds_alternative<core::HostPath>(path);
  if (hops && facts.is_inet_udp() && !shared_.paths.holds_for_every_protocol()) {
    path = Reason::filtered;
  }
  if (const auto* reason = std::get_if<Reason>(&path)) {
    if (core::rule_forces_hop(destination, facts, shared_.policy, *reason)) {
      path = shared_.paths.find_on_host(destination.address);
    }
  }
  if (core::hops_to_host(shared_.policy, path)) {
    if (const auto own = shared_.paths.way_to_own(destination.address)) path = *own;
  }
  return core::decide_connect(destination, facts, shared_.policy, path);
}

core::Verdict ConnectFlow::decide(const ActiveCall& call, const Target& target) {
  core::Verdict verdict = decide_for(target.destination, target.facts);
  // What does not hop need not be asked for.
  if (std::holds_alternative<core::Hop>(verdict) && may_be_restricted(shared_.memory, call)) {
    return core::Stay{Reason::landlock};
  }
  return verdict;
}

Outcome ConnectFlow::choose(ActiveCall& call, const Target& target, UniqueFd copy) {
  if (auto told = take_undelivered(shared_.memory, target.facts.cookie)) return *told;
  if (auto way = take_over_way(call, target)) return *way;
  if (shared_.crowded && !target.facts.nonblocking) return stay_inside(Reason::over_budget);
  const core::Verdict verdict = decide(call, target);
  if (const auto* stay = std::get_if<core::Stay>(&verdict)) return stay_inside(stay->reason);
  if (const auto* deny = std::get_if<core::Deny>(&verdict)) return fail(deny->error);
  return hop(call, target, std::get<core::Hop>(verdict), std::move(copy));
}

Outcome ConnectFlow::hop(ActiveCall& call, const Target& target, const core::Hop& verdict,
                         UniqueFd copy) {
  sys::CallSlot& slot = call.slot;
  auto host = shared_.sockets.on_host(target.facts.family, verdict.device, copy);
  if (!host) {
    return stay_inside(host.error().code == ENOPROTOOPT ? Reason::option_not_carried
                                                        : Reason::daemon_error);
  }
  slot.fd = target.fd;
  slot.family = target.facts.family;
  slot.device = verdict.device;
  slot.reason = static_cast<std::uint32_t>(verdict.reason);
  slot.destination = target.destination;
  slot.original_cookie = target.facts.cookie;
  slot.timeout_error = EINPROGRESS;
  slot.host_cookie = sys::socket_cookie(*host);
  slot.host_fd = host->release();
  // A UDP socket is connected at once: what fails need not be undone.
  if (shared_.policy.strict || target.facts.is_inet_udp())
    return reach(call, target, std::move(copy));
  return place(call, target, std::move(copy));
}

Outcome ConnectFlow::place(ActiveCall& call, const Target& target, UniqueFd copy) {
  sys::CallSlot& slot = call.slot;
  if (!shared_.references.note_registrations(call, copy, target.fd)) {
    return stay_inside(Reason::epoll_unreadable);
  }
  const auto flags = sys::status_flags(copy);
  if (!flags) return stay_inside(Reason::daemon_error);
  slot.status_flags = *flags;
  slot.close_on_exec = sys::closes_on_exec(call.notification.thread, target.fd) ? 1 : 0;
  slot.reuse = sys::reuse_of(copy);
  slot.original_inode = sys::inode_of(copy);
  slot.original_fd = copy.release();
  if (const auto timeout = sys::timeout_of(FdRef::from_number(slot.host_fd), SO_SNDTIMEO)) {
    slot.deadline = sys::monotonic_ns() + *timeout;
  }
  set_stage(slot, CallStage::prepared);
  return install(call);
}

Outcome ConnectFlow::install(ActiveCall& call) {
  sys::CallSlot& slot = call.slot;
  const bool same = names_socket(call, slot.fd, slot.original_cookie);
  if (!same || !shared_.references.watch_last(FdRef::from_number(slot.original_fd))) {
    close_fds(slot);
    return same ? stay_inside(Reason::daemon_error) : fail(EBADF);
  }
  const auto put = call.notify.install(call.notification.id, FdRef::from_number(slot.host_fd),
                                       &slot.fd, slot.close_on_exec != 0);
  if (!put) {
    shared_.references.forget_last();
    if (put.error().code == ENOENT) begin_inside(call);
    close_fds(slot);
    // EBADF, EMFILE: the caller lowered its limit below the number meanwhile (getrlimit(2)).
    return put.error().code == ENOENT ? Outcome{Gone{}} : stay_inside(Reason::daemon_error);
  }
  set_stage(slot, CallStage::installed);
  return settle(call);
}

Outcome ConnectFlow::settle(ActiveCall& call) {
  sys::CallSlot& slot = call.slot;
  if (shared_.references.settle(call) == References::Settled::shared) {
    const FdRef original = FdRef::from_number(slot.original_fd);
    const bool back = shared_.references.replace(call, original, slot.host_cookie);
    close_fds(slot);
    return back ? stay_inside(Reason::shared) : fail(EBADF);
  }
  slot.hopped = 1;
  set_stage(slot, CallStage::connecting);
  return start(call);
}

Outcome ConnectFlow::start(ActiveCall& call) {
  sys::CallSlot& slot = call.slot;
  const FdRef host = FdRef::from_number(slot.host_fd);
  auto outcome = sys::start_connect(host, slot.destination, slot.family);
  sys::set_reuse(host, slot.reuse);
  const bool blocking = (slot.status_flags & O_NONBLOCK) == 0;
  if (outcome.stage == ConnectStage::in_progress && blocking) {
    // Next door is often there already: its answer came while the call held the socket.
    outcome = sys::take_connect_result(host);
  }
  if (outcome.stage == ConnectStage::failed) return restore(call, host, outcome.error);
  if (blocking || slot.status_flags != O_NONBLOCK)
    (void)sys::set_status_flags(host, slot.status_flags);
  if (outcome.stage == ConnectStage::in_progress && blocking) return wait(call, host);
  if (outcome.stage == ConnectStage::unconnected) {
    const Outcome ended = ended_by_another(host);
    close_fds(slot);
    return ended;
  }
  close_fds(slot);
  return outcome.stage == ConnectStage::in_progress ? fail(EINPROGRESS) : Outcome{Return{}};
}

Outcome ConnectFlow::wait(ActiveCall& call, FdRef host) {
  set_stage(call.slot, CallStage::waiting);
  const auto watched = shared_.waits.watch(host, kConnectEvents, call.index);
  close_fds(call.slot);
  // Without a watch the sweep finds the end, later.
  (void)watched;
  return Waiting{};
}

Outcome ConnectFlow::woken(ActiveCall& call) {
  sys::CallSlot& slot = call.slot;
  if (slot.stage == CallStage::reaching) return look_at_way(call);
  const auto host = call.tracee->borrow(slot.fd);
  // Closed under the call: what is left of the attempt went with the last reference.
  if (!host || sys::socket_cookie(*host) != slot.host_cookie) return fail(EBADF);
  if (sys::tcp_state(*host) != TcpState::syn_sent) return conclude(call, *host);
  // The one event of a registration is used up.
  (void)shared_.waits.watch(*host, kConnectEvents, call.index);
  return Waiting{};
}

Outcome ConnectFlow::looked_after(ActiveCall& call) {
  sys::CallSlot& slot = call.slot;
  if (slot.stage == CallStage::reaching) return look_at_way(call);
  const auto host = call.tracee->borrow(slot.fd);
  if (!host || sys::socket_cookie(*host) != slot.host_cookie) return fail(EBADF);
  if (sys::tcp_state(*host) != TcpState::syn_sent) return conclude(call, *host);
  if (slot.deadline != 0 && sys::monotonic_ns() >= slot.deadline) return fail(slot.timeout_error);
  return Waiting{};
}

/// Another thread shut the attempt down or dissolved it: the error of the socket, or the one that
/// Linux has where there is none (__inet_stream_connect).
Outcome ConnectFlow::ended_by_another(FdRef host) {
  const int error = sys::take_socket_error(host);
  return fail(error != 0 ? error : ECONNABORTED);
}

Outcome ConnectFlow::conclude(ActiveCall& call, FdRef host) {
  const bool asked_before = std::exchange(call.slot.asked, 1) != 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const auto outcome = sys::take_connect_result(host);
  switch (outcome.stage) {
    case ConnectStage::done:
    case ConnectStage::already:  // another thread that waited for it was told first
      return Return{};
    case ConnectStage::in_progress:
      call.slot.asked = 0;
      return wait(call, host);
    case ConnectStage::unconnected:
      // An engine died with the errno in its hands: only another attempt can tell it again.
      if (asked_before) return start_over(call);
      return ended_by_another(host);
    case ConnectStage::failed:
      break;
  }
  return restore(call, host, outcome.error);
}

Outcome ConnectFlow::restore(ActiveCall& call, FdRef host, int error) {
  sys::CallSlot& slot = call.slot;
  slot.error = error;
  set_stage(slot, CallStage::restoring);
  if (error == EHOSTUNREACH) shared_.paths.forget(slot.destination.address);
  auto fresh = shared_.sockets.inside(slot.family, host);
  if (fresh) {
    (void)sys::set_status_flags(*fresh, slot.status_flags);
    slot.fresh_cookie = sys::socket_cookie(*fresh);
    if (shared_.references.replace(call, *fresh, slot.host_cookie)) {
      slot.host_cookie = slot.fresh_cookie;
    }
  }
  close_fds(slot);
  return error == 0 ? Outcome{Return{}} : fail(error);
}

bool ConnectFlow::put_inside(ActiveCall& call, std::int32_t number, FdRef host, int family) {
  sys::CallSlot& slot = call.slot;
  slot.fd = number;
  slot.family = family;
  slot.host_cookie = sys::socket_cookie(host);
  const auto flags = sys::status_flags(host);
  slot.status_flags = flags ? *flags : 0;
  const std::uint64_t before = slot.host_cookie;
  if (!shared_.references.note_registrations(call, host, number)) return false;
  bool all = shared_.references.note_duplicates(call, host);
  (void)restore(call, host, 0);
  const bool inside = slot.host_cookie != before;
  // The slot holds a few numbers at a time.
  for (int round = 0; inside && !all && round < kMaxRounds; ++round) {
    slot.duplicate_count = 0;
    slot.carried_count = 0;
    all = shared_.references.note_duplicates(call, host) || slot.duplicate_count == 0;
    const auto fresh = call.tracee->borrow(number);
    if (!fresh || !shared_.references.replace(call, *fresh, before)) break;
  }
  return inside;
}

void ConnectFlow::close_fds(sys::CallSlot& slot) {
  UniqueFd(std::exchange(slot.original_fd, -1)).reset();
  UniqueFd(std::exchange(slot.host_fd, -1)).reset();
}

}  // namespace sockhop::engine
