#include "engine/references.h"

#include <algorithm>
#include <span>

#include "sys/fd_facts.h"
#include "sys/socket_query.h"

namespace sockhop::engine {
namespace {

constexpr std::int64_t kScanBudget = 5'000'000;
// Rare, and without an answer the socket could not be put back.
constexpr std::int64_t kHolderBudget = 50'000'000;

bool add_registration(sys::CallSlot& slot, std::int32_t set, const core::EpollRegistration& one) {
  // Noted before, by an engine that died.
  const std::span noted = std::span(slot.carried).first(slot.carried_count);
  if (std::any_of(noted.begin(), noted.end(),
                  [&](const auto& it) { return it.set == set && it.number == one.number; })) {
    return true;
  }
  if (slot.carried_count >= sys::kMaxCarried) return false;
  slot.carried[slot.carried_count++] = {set, one.number, one.events, one.data};
  return true;
}

}  // namespace

Status References::note_registrations(ActiveCall& call, FdRef file, std::int32_t number) {
  auto stale = note_known(call, file, number);
  if (!stale) return stale.error();
  if (!*stale) return {};
  // A set may have moved to another number (dup2).
  processes_.forget(*call.tracee);
  stale = note_known(call, file, number);
  if (!stale) return stale.error();
  return {};
}

Result<bool> References::note_known(ActiveCall& call, FdRef file, std::int32_t number) {
  const std::int32_t thread = call.notification.thread;
  const auto sets = processes_.epoll_sets(thread, *call.tracee);
  if (!sets) return sets.error();
  bool stale = false;
  for (const std::int32_t set : *sets) {
    const auto watched = sys::watched_by(thread, set, file, number);
    stale = stale || watched == sys::EpollWatch::no_such_set;
    if (watched != sys::EpollWatch::yes) continue;
    const auto info = sys::read_fdinfo(thread, set);
    if (!info) return info.error();
    const auto all = core::parse_epoll_info(*info);
    const auto* one = core::find_number(all, number);
    if (one == nullptr || !add_registration(call.slot, set, *one)) {
      return Error{E2BIG, "epoll registrations", {}};
    }
  }
  return stale;
}

bool References::note_duplicates(ActiveCall& call, FdRef file) {
  sys::CallSlot& slot = call.slot;
  const auto numbers =
      sys::find_socket(call.notification.thread, sys::inode_of(file), kHolderBudget);
  if (!numbers) return false;
  for (const int number : *numbers) {
    if (number == slot.fd) continue;
    if (slot.duplicate_count >= sys::kMaxCarried) return false;
    // A registration that cannot be carried is lost; the number hops all the same.
    (void)note_registrations(call, file, number);
    slot.duplicates[slot.duplicate_count++] = number;
  }
  return true;
}

void References::carry(ActiveCall& call, FdRef from, FdRef to, std::uint32_t first) {
  for (std::uint32_t i = first; i < call.slot.carried_count; ++i) {
    const auto& one = call.slot.carried[i];
    const auto set = call.tracee->borrow(one.set);
    // A set that was closed in the meantime watches nothing any more.
    if (set) (void)registrations_.move(*set, from, to, {one.number, one.events, one.data});
  }
}

bool References::move_duplicates(ActiveCall& call, std::uint64_t inode) {
  const auto numbers = sys::find_socket(call.notification.thread, inode, kScanBudget);
  if (!numbers) return false;
  const FdRef host = FdRef::from_number(call.slot.host_fd);
  for (const int number : *numbers) {
    if (call.slot.duplicate_count >= sys::kMaxCarried) return false;
    const auto file = call.tracee->borrow(number);
    const std::uint32_t first = call.slot.carried_count;
    if (!file || !note_registrations(call, *file, number)) return false;
    const bool cloexec = sys::closes_on_exec(call.notification.thread, number);
    // Before the change: the next engine would not find it any more.
    call.slot.duplicates[call.slot.duplicate_count++] = number;
    if (!call.notify.install(call.notification.id, host, &number, cloexec)) return false;
    carry(call, *file, host, first);
  }
  return true;
}

bool References::fetch_from_other_process(ActiveCall& call, std::uint64_t inode) {
  auto found = sys::fetch_socket_from_others(call.notification.thread, inode, kHolderBudget);
  if (!found) return false;
  call.slot.original_fd = found->release();
  return true;
}

void References::forget_last() {
  // An entry that stays would be taken for the next socket's.
  if (auto fresh = sys::LastReference::open()) last_ = std::move(*fresh);
}

void References::follow(ActiveCall& call) {
  const FdRef host = FdRef::from_number(call.slot.host_fd);
  carry(call, FdRef::from_number(call.slot.original_fd), host);
}

References::Settled References::settle(ActiveCall& call) {
  sys::CallSlot& slot = call.slot;
  const std::uint64_t inode = slot.original_inode;
  const bool watched = slot.original_fd >= 0;
  follow(call);
  UniqueFd(std::exchange(slot.original_fd, -1)).reset();
  if (!watched || !last_.gone()) {
    const bool moved = move_duplicates(call, inode);
    const bool elsewhere = (!watched || !last_.gone()) && fetch_from_other_process(call, inode);
    forget_last();
    if (elsewhere) return Settled::shared;
    if (!moved) {
      if (auto own = sys::find_socket(call.notification.thread, inode, kScanBudget);
          own && !own->empty()) {
        if (auto file = call.tracee->borrow(own->front())) {
          slot.original_fd = file->release();
          return Settled::shared;
        }
      }
    }
  }
  return Settled::all_hop;
}

bool References::replace(ActiveCall& call, FdRef socket, std::uint64_t expected) {
  sys::CallSlot& slot = call.slot;
  const std::int32_t thread = call.notification.thread;
  const std::uint64_t wanted = sys::socket_cookie(socket);
  const auto put = [&](std::int32_t number) {
    const auto there = call.tracee->borrow(number);
    if (!there) return false;
    const std::uint64_t cookie = sys::socket_cookie(*there);
    if (cookie == wanted) return true;
    if (cookie != expected) return false;
    const bool cloexec = sys::closes_on_exec(thread, number);
    return call.notify.install(call.notification.id, socket, &number, cloexec).has_value();
  };
  if (!put(slot.fd)) return false;
  for (std::uint32_t i = 0; i < slot.duplicate_count; ++i) put(slot.duplicates[i]);
  carry(call, FdRef::from_number(-1), socket);
  return true;
}

}  // namespace sockhop::engine
