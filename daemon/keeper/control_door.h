// The sockhop-control process that serves sockhop.sock.
//
// Control accepts the clients and asks for each whether it may come in, because the keeper knows
// the containers. Their connections are not passed from here: descriptors in flight are counted
// per user, and a container can use that limit up (unix(7), ETOOMANYREFS). While control is being
// restarted clients wait in the queue of the socket, which the keeper holds.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "control.pb.h"
#include "core/admission.h"
#include "keeper/watch.h"
#include "sys/message_channel.h"

namespace sockhop::keeper {

class ControlDoor {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Answer = std::function<void(internal::FromKeeper)>;  // sets the serial itself

  struct Events {
    std::function<bool(const core::Namespaces&)> admits;
    std::function<void(const internal::ToKeeper&, Answer)> on_request;
  };

  ControlDoor(boost::asio::io_context& loop, UniqueFd listener, std::string log_level,
              Events events);
  /// Ends control with SIGTERM.
  ~ControlDoor();
  ControlDoor(const ControlDoor&) = delete;
  ControlDoor& operator=(const ControlDoor&) = delete;

  /// True when the child was control; it is started again after a while.
  bool child_ended(pid_t pid, const std::string& how);
  void expire(Time now);
  [[nodiscard]] std::optional<Time> next_deadline() const { return restart_at_; }

 private:
  Status start();
  void start_or_retry();
  void retry_later();
  [[nodiscard]] Status admit(const internal::AdmitClient& client) const;
  void read();
  void answer_client(const internal::ToKeeper& request);
  void reply(std::uint64_t generation, const internal::FromKeeper& message);

  boost::asio::io_context& loop_;
  UniqueFd listener_;
  std::string log_level_;
  Events events_;
  pid_t pid_ = 0;
  std::uint64_t generation_ = 0;  // of the control process: replies to a dead one are dropped
  sys::MessageChannel channel_;
  std::unique_ptr<Watch> channel_watch_;
  Time started_at_{};
  std::chrono::milliseconds pause_;
  std::optional<Time> restart_at_;
};

}  // namespace sockhop::keeper
