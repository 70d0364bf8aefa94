// The host side of published ports: which endpoint listens for whom, and the connections that wait.
//
// Endpoints are kept descriptors, reserved by the keeper. A connection that was taken out of a
// queue and could not be handed over is kept too, and is the next one to be handed over.
#pragma once

#include <vector>

#include "core/port_table.h"
#include "engine/listener_table.h"
#include "sys/host_listener.h"
#include "sys/relay_edges.h"

namespace sockhop::engine {

struct HostPort {
  core::PublishedPort published;
  std::uint64_t key = 0;
  std::uint32_t row = 0;      // in SessionMemory::ports
  int fd = -1;                // owned by the table of kept descriptors
  int family = 0;             // of it
  int serves = 0;             // family of the container's listeners; 0: does not listen
  std::uint32_t waiting = 0;  // connections that are kept
  int problem = 0;            // errno: a listener is there, but the host refuses connections
  std::int64_t told_at = 0;   // when that was logged
};

class ListenerPorts {
 public:
  ListenerPorts(sys::SessionMemory& memory, sys::EdgeSet& edges, sys::ListenerOptions options)
      : memory_(memory), edges_(edges), options_(std::move(options)) {}

  /// Takes over the kept endpoints of `ports` (TCP); closes those of ports that are no longer
  /// there.
  Status set(const std::vector<core::PublishedPort>& ports);
  [[nodiscard]] std::vector<std::uint16_t> container_ports() const;
  [[nodiscard]] std::vector<HostPort>& all() { return ports_; }
  [[nodiscard]] const std::vector<HostPort>& all() const { return ports_; }
  [[nodiscard]] HostPort* by_row(std::uint32_t row);
  /// The port of a connection on the host, by its local name.
  [[nodiscard]] HostPort* of_connection(FdRef connection);

  /// Would any port reach a listener like this?
  [[nodiscard]] bool reach(const core::Endpoint& local, bool v6_only) const;
  /// The ports that reach the listener begin to listen. `copy`: the listener, for its options;
  /// negative when none is at hand. Where the host cannot listen, the port's `problem` says so; the
  /// container's listener works without it.
  void listen_for(const Listener& listener, FdRef copy);
  /// Reads the listener's options again.
  void refresh_options(const Listener& listener, FdRef copy);
  /// Ports whose last listener went stop to listen.
  void stop_unserved(const ListenerTable& listeners);

  /// The next connection for the listener, its number in slot.host_fd and its peer in
  /// slot.destination; EAGAIN when none waits. The slot must be in stage taking.
  Result<HostPort*> take(Listener& listener, sys::CallSlot& slot);
  /// Gives back slot.host_fd, to be taken again before all others.
  void give_back(HostPort& port, sys::CallSlot& slot);
  /// A connection of the container itself, to be handed over before all others. The port that it
  /// waits at; null when it could not be kept.
  const HostPort* keep(const Listener& listener, UniqueFd connection);
  /// Nothing waits for the listener.
  [[nodiscard]] bool is_dry(const Listener& listener) const;
  [[nodiscard]] static bool serves(const HostPort& port, const Listener& listener);

 private:
  Status listen_on_port(HostPort& port, const Listener& listener, FdRef copy);
  Status turn_family(HostPort& port, int family);
  bool take_kept(HostPort& port, sys::CallSlot& slot);
  void remove(const HostPort& port);
  void adopt(HostPort& port);

  sys::SessionMemory& memory_;
  sys::EdgeSet& edges_;
  sys::ListenerOptions options_;
  std::vector<HostPort> ports_;
};

/// Keys of the one epoll set: what an event is about.
inline constexpr std::uint64_t kPortEvent = 1ULL << 56;
inline constexpr std::uint64_t kListenerEvent = 2ULL << 56;
inline constexpr std::uint64_t kWatchEvent = 3ULL << 56;
inline constexpr std::uint64_t kRelayEvent = 4ULL << 56;
inline constexpr std::uint64_t kEventKind = 0xffULL << 56;

}  // namespace sockhop::engine
