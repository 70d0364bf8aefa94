// What Listeners does when something happens outside a call: connections arrive, listeners end.
#include <sys/epoll.h>

#include "engine/listeners.h"
#include "sys/clock.h"
#include "sys/socket_query.h"

namespace sockhop::engine {
namespace {

constexpr std::int64_t kQuietNs = 2'000'000;
constexpr unsigned kSoon = 2;
constexpr unsigned kMost = 16;

bool waits_for(const HostPort& port) {
  return port.waiting > 0 || sys::accept_queue_length(FdRef::from_number(port.fd)) > 0;
}

}  // namespace

void Listeners::take_events(const Wake& wake) {
  for (const auto& event : edges_.take(0)) {
    const std::uint64_t what = event.key & ~kEventKind;
    switch (event.key & kEventKind) {
      case kPortEvent:
        on_port(static_cast<std::uint32_t>(what), wake);
        break;
      case kListenerEvent:
        on_listener(what, event.events, wake);
        break;
      case kWatchEvent:
        on_ends();
        break;
      case kRelayEvent:
        accepted_->relay().reap();
        break;
      default:
        break;
    }
  }
}

bool Listeners::wake_waiting(const std::function<bool(const Listener&)>& which, const Wake& wake) {
  auto& memory = shared_.memory;
  for (std::uint64_t i = 0; i < memory.used_slots; ++i) {
    const sys::CallSlot& slot = memory.slots[i];
    if (slot.stage != sys::CallStage::accepting) continue;
    const Listener* listener = table_.find(slot.original_cookie);
    if (listener == nullptr || !which(*listener)) continue;
    wake(i);
    if (slot.stage == sys::CallStage::accepting) return true;  // found nothing: no more for others
  }
  return false;
}

void Listeners::on_port(std::uint32_t row, const Wake& wake) {
  const HostPort* port = ports_->by_row(row);
  if (port == nullptr || port->serves == 0) return;
  const bool satisfied = wake_waiting(
      [&](const Listener& listener) { return ListenerPorts::serves(*port, listener); }, wake);
  if (!satisfied && waits_for(*port)) ring(*port);
}

void Listeners::ring(const HostPort& port) {
  Listener* latest = nullptr;
  for (const auto& one : table_.all()) {
    if (!one->listening || !ListenerPorts::serves(port, *one)) continue;
    if (latest == nullptr || one->asked_at > latest->asked_at) latest = one.get();
  }
  if (latest == nullptr) return list_again();
  const std::int64_t now = sys::monotonic_ns();
  const unsigned waiting = latest->bell.waiting();
  // A loop that works through its queue sees the bell that is there. One that took a single
  // connection for its edge needs another edge.
  const bool needed = waiting == 0 || (waiting < kSoon && latest->asked_at > latest->rung_at) ||
                      (waiting < kMost && now - latest->asked_at > kQuietNs);
  if (!needed) return;
  latest->rung_at = now;
  if (latest->bell.ring(latest->local, latest->v6_only) == Bell::Rung::refused) {
    list_again();
  }
}

void Listeners::on_listener(std::uint64_t cookie, std::uint32_t events, const Wake& wake) {
  if ((events & (EPOLLHUP | EPOLLRDHUP)) != 0) {
    // Shut down; unless it listens again already.
    list_again();
  }
  (void)wake_waiting([&](const Listener& listener) { return listener.cookie == cookie; }, wake);
}

void Listeners::on_ends() {
  if (!watch_) return;
  const auto ended = watch_->drain();
  bool any = false;
  bool relist = ended.overflow;
  for (const auto& socket : ended.sockets) {
    // Of the sockets below it, a connection's or its own: who still listens tells.
    relist = relist || table_.find_multipath(socket.local) != nullptr;
    if (table_.find(socket.cookie) == nullptr) continue;
    table_.remove(socket.cookie);
    any = true;
  }
  if (relist) return list_again();
  if (any) ports_->stop_unserved(table_);
}

}  // namespace sockhop::engine
