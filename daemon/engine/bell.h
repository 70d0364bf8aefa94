// Wakes the container's event loop: a connection from inside the namespace to a listener, which is
// readable as long as the bell waits in its queue.
//
// The bell is known by its name (an address and port of the container that the bell socket keeps);
// the socket lies in the session's memory, so the next engine knows it too. Ringing again resets
// the older ring, whose dead connection still waits in the queue and has the same name.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/call.h"
#include "sys/worker_thread.h"

namespace sockhop::engine {

class Bell {
 public:
  /// `key` names it in the table of kept descriptors: the listener's cookie.
  Bell(sys::SessionMemory& memory, sys::WorkerThread& container, std::uint64_t key)
      : memory_(memory), container_(container), key_(key) {}

  enum class Rung {
    yes,
    refused,  // nobody listens
    failed,
  };
  Rung ring(const core::Endpoint& listener, bool v6_only);
  /// Is this the peer name of a ring?
  [[nodiscard]] bool is(const core::Endpoint& peer) const { return name_ && *name_ == peer; }
  /// A ring left the queue.
  void taken_out();
  /// Rings that may still wait in the queue.
  [[nodiscard]] unsigned waiting() const { return waiting_; }
  /// Finds the bell of a dead engine.
  void find();
  void drop();

 private:
  Status make(const core::Endpoint& listener, bool v6_only);

  sys::SessionMemory& memory_;
  sys::WorkerThread& container_;
  std::uint64_t key_;
  int number_ = -1;
  std::optional<core::Endpoint> name_;
  unsigned waiting_ = 0;
};

}  // namespace sockhop::engine
