// Carries the bytes of connections whose host socket must not be handed over.
//
// One thread moves them with splice through two pipes a connection. Sockets and pipes are kept
// descriptors: bytes on their way lie in a pipe and survive the engine, and what was closed in
// which direction is asked of the sockets again.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "sys/relay_edges.h"
#include "sys/session_memory.h"

namespace sockhop::engine {

class Relay {
 public:
  /// More connections than this are refused.
  static constexpr std::size_t kMaxFlows = 256;

  /// Goes on with what a dead engine relayed.
  static Result<std::unique_ptr<Relay>> open(sys::SessionMemory& memory);
  ~Relay();

  /// Takes `near` and the connection slot.host_fd over; `handed` takes its place in the slot.
  /// On an error the slot is as it was.
  Status add(UniqueFd near, UniqueFd handed, sys::CallSlot& slot);

  /// Readable when reap() has work.
  [[nodiscard]] FdRef finished() const { return finished_bell_.fd(); }
  /// Closes the descriptors of connections that ended.
  void reap();

 private:
  struct Direction {
    int from = -1;
    int to = -1;
    int pipe_out = -1;  // read end
    int pipe_in = -1;   // write end
    bool ended = false;
    bool told = false;  // the end was passed on
  };
  struct Flow {
    Direction up;    // near to host
    Direction down;  // host to near
  };
  enum class Pumped { idle, more, broken };

  Relay(sys::SessionMemory& memory, sys::EdgeSet edges, sys::Doorbell work, sys::Doorbell finished)
      : memory_(memory),
        edges_(std::move(edges)),
        work_bell_(std::move(work)),
        finished_bell_(std::move(finished)) {}
  void adopt();
  Status keep(std::uint64_t id, UniqueFd near, int host);
  void drop(std::uint64_t id, int except);
  void begin(std::uint64_t id);
  void run();
  void serve(std::uint64_t id);
  static Pumped pump(Direction& way);

  sys::SessionMemory& memory_;
  sys::EdgeSet edges_;
  sys::Doorbell work_bell_;
  sys::Doorbell finished_bell_;
  std::mutex mutex_;
  std::map<std::uint64_t, Flow> flows_;  // the thread's, but for begin()
  std::vector<std::uint64_t> done_;      // of the thread, for reap()
  std::vector<std::uint64_t> more_;      // the thread's: not finished with at the last turn
  std::size_t count_ = 0;                // the loop's
  std::uint64_t next_ = 1;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace sockhop::engine
