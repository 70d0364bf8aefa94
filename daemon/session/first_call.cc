#include "session/first_call.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <map>
#include <memory>
#include <utility>

#include "core/admission.h"
#include "session/kept_start.h"
#include "session/requests.h"
#include "sys/netns.h"
#include "sys/notify_fd.h"
#include "sys/peer.h"
#include "sys/readiness.h"

namespace sockhop::session {
namespace {

namespace asio = boost::asio;

struct Found {
  UniqueFd netns;
  core::Namespaces namespaces;
};

Result<Found> look_at(std::int32_t thread) {
  if (thread == 0) return Error{ESRCH, "container", "its processes are not visible from here"};
  auto netns = sys::open_netns_of_process(thread);
  if (!netns) return netns.error();
  auto namespaces = sys::namespaces_of(thread);
  if (!namespaces) return namespaces.error();
  return Found{std::move(*netns), std::move(*namespaces)};
}

/// Nothing when the caller is gone again.
Result<std::optional<Found>> take_call(sys::SessionMemory& memory, FdRef fd) {
  sys::CallSlot& slot = memory.slots.front();
  slot.notify_fd = fd.get();
  memory.used_slots = 1;
  const auto notify = sys::open_notify_fd(fd, false);
  if (!notify->receive(slot.room)) return std::optional<Found>();
  const auto call = sys::read_notification(slot.room);
  auto found = look_at(call.thread);
  // Looked at before it was asked for: a thread id may be given to another one.
  if (!notify->still_waiting(call.id)) {
    std::fill(slot.room.begin(), slot.room.end(), std::byte{0});
    return std::optional<Found>();
  }
  if (!found) return found.error();
  ++memory.calls;
  return std::optional<Found>(std::move(*found));
}

Status note(sys::SessionMemory& memory, const core::Namespaces& namespaces) {
  auto start = kept_start(memory);
  if (!start) return start.error();
  auto& found = *start->mutable_found();
  found.set_network(namespaces.network);
  found.set_mount(namespaces.mount);
  for (const auto pids : namespaces.pids) found.add_pids(pids);
  return keep_start(memory, *start);
}

/// The notify fds of a container, each of which wakes the loop.
class NotifyFds {
 public:
  NotifyFds(asio::io_context& loop, const sys::SessionMemory& memory)
      : loop_(loop), memory_(memory) {}
  ~NotifyFds() {
    // The numbers belong to the session memory.
    for (auto& [number, watched] : watched_) (void)watched.release();
  }
  NotifyFds(const NotifyFds&) = delete;
  NotifyFds& operator=(const NotifyFds&) = delete;

  /// The next one that has a call, -1 in the FdRef when all have hung up or the loop was stopped.
  FdRef next() {
    do {
      bool living = false;
      for (const auto& kept : memory_.kept) {
        if (kept.kind != sys::Kept::notify) continue;
        const auto ready = sys::poll_now(FdRef::from_number(kept.fd));
        if (ready.readable) return FdRef::from_number(kept.fd);
        living = living || !ready.hung_up;
        if (!ready.hung_up) watch(kept.fd);
      }
      if (!living) break;
    } while (loop_.run_one() > 0);
    return FdRef::from_number(-1);
  }

 private:
  void watch(int number) {
    auto& armed = armed_[number];
    if (std::exchange(armed, true)) return;
    auto at = watched_.find(number);
    if (at == watched_.end()) at = watched_.try_emplace(number, loop_, number).first;
    at->second.async_wait(asio::posix::stream_descriptor::wait_read,
                          [&armed](const boost::system::error_code&) { armed = false; });
  }

  asio::io_context& loop_;
  const sys::SessionMemory& memory_;
  std::map<int, asio::posix::stream_descriptor> watched_;
  std::map<int, bool> armed_;  // a wait is under way
};

}  // namespace

Result<std::optional<UniqueFd>> wait_for_first_call(sys::SessionMemory& memory) {
  auto start = kept_start(memory);
  if (!start) return start.error();
  asio::io_context loop(1);
  NotifyFds notify_fds(loop, memory);
  Requests requests(loop, memory, std::move(*start));
  requests.serve_without_session();
  for (FdRef fd = notify_fds.next(); fd.get() >= 0; fd = notify_fds.next()) {
    auto found = take_call(memory, fd);
    if (!found) return found.error();
    if (!*found) continue;
    if (auto done = note(memory, (*found)->namespaces); !done) return done.error();
    return std::optional<UniqueFd>(std::move((*found)->netns));
  }
  requests.tell_ended();
  return std::optional<UniqueFd>();
}

void give_first_call_back(sys::SessionMemory& memory) {
  const auto& slot = memory.slots.front();
  const auto id = sys::read_notification(slot.room).id;
  if (memory.used_slots == 0 || id == 0) return;
  (void)sys::open_notify_fd(FdRef::from_number(slot.notify_fd), false)->let_run(id);
}

}  // namespace sockhop::session
