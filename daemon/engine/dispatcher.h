// Receives notified calls into slots, hands each to its flow, and answers the kernel.
//
// The invariants of the whole engine stand here: every call ends in exactly one answer or is gone;
// only finish() answers; Continue is made only of RunInside; a slot is cleared before reuse.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "engine/connect_flow.h"
#include "engine/listeners.h"
#include "engine/name_calls.h"
#include "engine/process_table.h"

namespace sockhop::engine {

class Dispatcher {
 public:
  struct Parts {
    Shared& shared;
    ConnectFlow& connects;
    NameCalls& names;
    ProcessTable& processes;
    Listeners& listeners;
    /// PIDFD_THREAD may be used.
    bool by_thread;
  };
  explicit Dispatcher(Parts parts);

  void add_notify(std::int32_t number, std::unique_ptr<sys::NotifyFd> notify);
  void remove_notify(std::int32_t number);

  /// One call is pending on the notify fd. False: no free slot now; ask again later.
  bool receive(std::int32_t number);
  /// Something that the call in this slot waits for has happened.
  void wake(std::uint64_t index);
  /// Looks after calls that wait: callers that went away, deadlines. True while any waits.
  bool sweep();
  /// Goes on with what a dead engine left.
  void resume_all();
  [[nodiscard]] bool any_waiting() const { return waiting_ > 0; }
  /// Earliest deadline of a waiting call, CLOCK_MONOTONIC ns; 0 when there is none.
  [[nodiscard]] std::int64_t next_deadline() const;

 private:
  Outcome dispatch(ActiveCall& call);
  Outcome dispatch_socketcall(ActiveCall& call, const core::SocketcallCall& asked);
  Outcome run(ActiveCall& call, const core::Call& decoded);
  Outcome on_listen(ActiveCall& call, const core::ListenCall& asked);
  Outcome on_accept(ActiveCall& call, const core::AcceptCall& asked);
  void work(std::uint64_t index, Outcome (Dispatcher::*step)(ActiveCall&));
  Outcome step_resume(ActiveCall& call);
  Outcome give_up(ActiveCall& call);
  Outcome step_wake(ActiveCall& call);
  Outcome step_gone(ActiveCall& call);
  Outcome step_sweep(ActiveCall& call);
  void finish(ActiveCall& call, const Outcome& outcome);
  void count(const ActiveCall& call, const Outcome& outcome);
  void deliver(ActiveCall& call, const Return& result);
  void drop_waiting(std::uint64_t index);
  void release(std::uint64_t index);

  Parts parts_;
  std::map<std::int32_t, std::unique_ptr<sys::NotifyFd>> notify_;
  std::vector<std::uint64_t> free_;
  std::size_t waiting_ = 0;
};

}  // namespace sockhop::engine
