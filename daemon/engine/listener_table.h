// The container's listeners that published ports reach, by cookie: nothing here holds a socket.
#pragma once

#include <memory>
#include <vector>

#include "engine/bell.h"

namespace sockhop::engine {

struct Listener {
  Listener(sys::SessionMemory& memory, sys::WorkerThread& container, std::uint64_t key)
      : cookie(key), bell(memory, container, key) {}

  std::uint64_t cookie;
  core::Endpoint local;
  int family = 0;
  bool v6_only = false;
  /// MPTCP: sock_diag shows a TCP socket below it, which has another cookie, but the same address.
  bool multipath = false;
  int backlog = 4096;             // of one that was there before us; the kernel caps it (somaxconn)
  bool listening = true;          // false after shutdown(2)
  bool watched = false;           // has a registration
  bool reports_arrivals = false;  // the application set IP_PKTINFO itself
  std::int64_t options_read_at = 0;
  std::int64_t asked_at = 0;  // last accept
  std::int64_t rung_at = 0;
  std::uint32_t turns = 0;
  Bell bell;
};

class ListenerTable {
 public:
  /// A container that has more keeps them unserved.
  static constexpr std::size_t kMaxListeners = 256;

  ListenerTable(sys::SessionMemory& memory, sys::WorkerThread& container)
      : memory_(memory), container_(container) {}

  Listener* find(std::uint64_t cookie);
  /// The MPTCP listener whose TCP socket listens there.
  Listener* find_multipath(const core::Endpoint& local);
  /// The listener, new or known; null when the table is full.
  Listener* add(std::uint64_t cookie, const core::Endpoint& local, int family, bool v6_only);
  void remove(std::uint64_t cookie);
  [[nodiscard]] const std::vector<std::unique_ptr<Listener>>& all() const { return all_; }
  [[nodiscard]] bool is_bell(const core::Endpoint& peer) const;

 private:
  sys::SessionMemory& memory_;
  sys::WorkerThread& container_;
  std::vector<std::unique_ptr<Listener>> all_;
};

}  // namespace sockhop::engine
