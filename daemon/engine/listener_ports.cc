#include "engine/listener_ports.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

#include "engine/endpoint_key.h"
#include "sys/host_socket.h"
#include "sys/socket_query.h"

namespace sockhop::engine {
namespace {

using core::TcpState;

bool reaches(const core::PublishedPort& port, const core::Endpoint& local, bool v6_only) {
  return core::listener_serves(local, port) && !(v6_only && port.host.address.is_v4());
}

sys::KeptFd* find_kept(sys::SessionMemory& memory, sys::Kept kind, std::uint64_t key) {
  for (auto& kept : memory.kept) {
    if (kept.kind == kind && kept.key == key) return &kept;
  }
  return nullptr;
}

}  // namespace

bool ListenerPorts::serves(const HostPort& port, const Listener& listener) {
  return port.serves == listener.family &&
         reaches(port.published, listener.local, listener.v6_only);
}

HostPort* ListenerPorts::by_row(std::uint32_t row) {
  const auto found = std::find_if(ports_.begin(), ports_.end(),
                                  [row](const HostPort& port) { return port.row == row; });
  return found == ports_.end() ? nullptr : &*found;
}

HostPort* ListenerPorts::of_connection(FdRef connection) {
  const auto local = sys::local_name(connection);
  if (!local) return nullptr;
  HostPort* best = nullptr;
  for (HostPort& port : ports_) {
    if (port.published.host.port != local->port) continue;
    const auto& address = port.published.host.address;
    if (address == local->address) return &port;
    if (address.is_unspecified() && address.is_v4() == local->address.is_v4()) best = &port;
  }
  return best;
}

Status ListenerPorts::set(const std::vector<core::PublishedPort>& ports) {
  std::vector<HostPort> now;
  std::array<bool, sys::kMaxPorts> used{};
  std::vector<const core::PublishedPort*> fresh;
  const auto find_known = [this](const core::PublishedPort& port) {
    return std::find_if(ports_.begin(), ports_.end(),
                        [&](const HostPort& one) { return one.published == port; });
  };
  std::size_t count = 0;
  for (const auto& port : ports) {
    if (port.protocol != core::Protocol::tcp) continue;
    if (++count > sys::kMaxPorts) return Error{E2BIG, "published ports", "more than 240"};
    if (find_known(port) != ports_.end()) continue;
    if (sys::kept_fd(memory_, sys::Kept::endpoint, endpoint_key(port)).get() < 0) {
      return Error{ENOENT, "published port", core::to_string(port)};
    }
    fresh.push_back(&port);
  }
  for (const auto& port : ports) {
    const auto known = find_known(port);
    if (known == ports_.end()) continue;
    used[known->row] = true;
    now.push_back(*known);
    ports_.erase(known);
  }
  for (const HostPort& gone : ports_) remove(gone);
  ports_ = std::move(now);
  for (const auto* port : fresh) {
    HostPort one{.published = *port, .key = endpoint_key(*port)};
    one.row = static_cast<std::uint32_t>(std::find(used.begin(), used.end(), false) - used.begin());
    one.fd = sys::kept_fd(memory_, sys::Kept::endpoint, one.key).get();
    used[one.row] = true;
    adopt(one);
    ports_.push_back(one);
  }
  return {};
}

void ListenerPorts::adopt(HostPort& port) {
  const FdRef fd = FdRef::from_number(port.fd);
  port.family = sys::socket_domain(fd);
  // An engine before this one had it listen, for listeners that start() will find.
  if (sys::tcp_state(fd) == TcpState::listen) {
    port.serves = port.published.host.address.is_v4() ? port.family : 0;
    (void)edges_.watch(fd, EPOLLIN, kPortEvent | port.row);
  }
  for (sys::KeptFd& kept : memory_.kept) {
    if (kept.kind != sys::Kept::accepted || kept.key != port.key) continue;
    if (sys::is_in_slot(memory_, kept.fd)) {
      kept.kind = sys::Kept::none;  // on its way to a caller, or back
    } else {
      ++port.waiting;
    }
  }
}

void ListenerPorts::remove(const HostPort& port) {
  sys::drop_kept(memory_, sys::Kept::endpoint, port.key);
  sys::drop_kept(memory_, sys::Kept::accepted, port.key);
  memory_.ports[port.row] = {};
}

std::vector<std::uint16_t> ListenerPorts::container_ports() const {
  std::vector<std::uint16_t> all;
  for (const HostPort& port : ports_) all.push_back(port.published.container_port);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

bool ListenerPorts::reach(const core::Endpoint& local, bool v6_only) const {
  return std::any_of(ports_.begin(), ports_.end(),
                     [&](const HostPort& port) { return reaches(port.published, local, v6_only); });
}

Status ListenerPorts::turn_family(HostPort& port, int family) {
  auto beside = sys::bind_beside(FdRef::from_number(port.fd), port.published.host, family);
  if (!beside) return beside.error();
  sys::KeptFd* kept = find_kept(memory_, sys::Kept::endpoint, port.key);
  if (kept == nullptr) return Error{ENOENT, "published port", {}};
  port.fd = beside->release();
  port.family = family;
  UniqueFd(std::exchange(kept->fd, port.fd)).reset();
  return {};
}

Status ListenerPorts::listen_on_port(HostPort& port, const Listener& listener, FdRef copy) {
  const int family = port.published.host.address.is_v4() ? listener.family : AF_INET6;
  if (port.family != family) {
    if (auto turned = turn_family(port, family); !turned) return turned;
  }
  const FdRef fd = FdRef::from_number(port.fd);
  sys::report_arrivals(fd, family);
  if (copy.get() >= 0 && family == listener.family) options_.carry(copy, fd, family);
  // Found by a new engine: it listens already, as its application asked.
  const bool adopted = copy.get() < 0 && sys::tcp_state(fd) == TcpState::listen;
  if (!adopted) {
    if (auto listens = sys::listen_at_endpoint(fd, listener.backlog); !listens) return listens;
  }
  port.serves = listener.family;
  return edges_.watch(fd, EPOLLIN, kPortEvent | port.row);
}

void ListenerPorts::listen_for(const Listener& listener, FdRef copy) {
  for (HostPort& port : ports_) {
    if (!reaches(port.published, listener.local, listener.v6_only)) continue;
    const bool better = listener.family == AF_INET6 && !port.published.host.address.is_v4();
    if (port.serves != 0 && port.serves != listener.family && !better) continue;
    const auto listens = listen_on_port(port, listener, copy);
    port.problem = listens || port.serves != 0 ? 0 : listens.error().code;
  }
}

void ListenerPorts::refresh_options(const Listener& listener, FdRef copy) {
  for (const HostPort& port : ports_) {
    if (!serves(port, listener) || port.family != listener.family) continue;
    options_.carry(copy, FdRef::from_number(port.fd), port.family);
  }
}

void ListenerPorts::stop_unserved(const ListenerTable& listeners) {
  for (HostPort& port : ports_) {
    bool wanted = false;
    bool served = false;
    for (const auto& one : listeners.all()) {
      wanted = wanted || reaches(port.published, one->local, one->v6_only);
      served = served || (one->listening && serves(port, *one));
    }
    if (!wanted) port.problem = 0;  // nobody listens: it is to refuse
    if (served || port.serves == 0) continue;
    sys::stop_listening(FdRef::from_number(port.fd));
    sys::drop_kept(memory_, sys::Kept::accepted, port.key);
    port.waiting = 0;
    port.serves = 0;
  }
}

bool ListenerPorts::take_kept(HostPort& port, sys::CallSlot& slot) {
  if (port.waiting == 0) return false;
  --port.waiting;
  sys::KeptFd* kept = find_kept(memory_, sys::Kept::accepted, port.key);
  if (kept == nullptr) return false;
  // Named by both for a moment rather than by none.
  slot.host_fd = kept->fd;
  slot.host_cookie = sys::socket_cookie(FdRef::from_number(slot.host_fd));
  std::atomic_signal_fence(std::memory_order_seq_cst);
  slot.stage = sys::CallStage::delivering;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  kept->kind = sys::Kept::none;
  if (const auto peer = sys::peer_name(FdRef::from_number(slot.host_fd))) slot.destination = *peer;
  return true;
}

Result<HostPort*> ListenerPorts::take(Listener& listener, sys::CallSlot& slot) {
  const std::size_t first = ports_.empty() ? 0 : listener.turns++ % ports_.size();
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    HostPort& port = ports_[(first + i) % ports_.size()];
    if (!serves(port, listener)) continue;
    if (take_kept(port, slot)) return &port;
    auto accepted =
        sys::accept_from(FdRef::from_number(port.fd), (slot.status_flags & SOCK_NONBLOCK) != 0);
    if (accepted) {
      slot.host_fd = accepted->fd.release();
      slot.destination = accepted->peer;
      return &port;
    }
    const int code = accepted.error().code;
    if (code != EAGAIN && code != EINVAL) return accepted.error();
  }
  return Error{EAGAIN, "accept4"};
}

void ListenerPorts::give_back(HostPort& port, sys::CallSlot& slot) {
  // Named by both for a moment rather than by none. A full table closes it.
  if (sys::keep_fd(memory_, sys::Kept::accepted, port.key, UniqueFd(slot.host_fd))) ++port.waiting;
  slot.host_fd = -1;
}

const HostPort* ListenerPorts::keep(const Listener& listener, UniqueFd connection) {
  const auto port = std::find_if(ports_.begin(), ports_.end(),
                                 [&](const HostPort& one) { return serves(one, listener); });
  if (port == ports_.end()) return nullptr;
  if (!sys::keep_fd(memory_, sys::Kept::accepted, port->key, std::move(connection))) return nullptr;
  ++port->waiting;
  return &*port;
}

bool ListenerPorts::is_dry(const Listener& listener) const {
  return std::all_of(ports_.begin(), ports_.end(), [&](const HostPort& port) {
    return !serves(port, listener) ||
           (port.waiting == 0 && sys::accept_queue_length(FdRef::from_number(port.fd)) == 0);
  });
}

}  // namespace sockhop::engine
