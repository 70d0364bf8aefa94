// One container's engine: the loop, and everything the flows share.
//
// Lives in the engine process on one thread; the threads it starts only stand where sockets are
// made (the container's namespace, the middle one) or where registrations are changed.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/dispatcher.h"

namespace sockhop::engine {

/// What --without=FEATURE leaves on; kernel features are probed besides.
struct Features {
  bool thread_pidfd = true;  // PIDFD_THREAD, 6.9
  bool sync_wake_up = true;  // SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP, 6.6
  bool awake_cores = true;   // cores may be kept from sleeping in a burst (core/keep_awake.h)
};

struct SessionStart {
  std::string container;  // its id, for log lines
  core::Policy policy;
  std::vector<core::PublishedPort> ports;
  std::vector<core::Uplink> uplinks;
  Features features;
};

struct PortState {
  core::PublishedPort port;
  bool listening = false;
  int problem = 0;  // errno: a server listens, but the host cannot
  std::uint64_t injected = 0;
  std::uint64_t relayed = 0;
};

/// What `explain` shows.
struct Explained {
  core::Verdict verdict;
  std::vector<PathStep> steps;
};

class Session {
 public:
  /// Namespaces, notify fds and endpoints are taken from `memory` (sys::Kept); what a dead engine
  /// left there is gone on with.
  static Result<std::unique_ptr<Session>> open(boost::asio::io_context& loop,
                                               sys::SessionMemory& memory, SessionStart start);
  ~Session();

  /// Serves one more kept notify fd; `key` as in the table.
  void serve(std::uint64_t key);
  void set_policy(core::Policy policy);
  void set_uplinks(std::vector<core::Uplink> uplinks);
  /// Endpoints of new ports are kept already. Done when the endpoints of servers that listen
  /// already listen, too; else an error, and the ports are as before.
  Status set_ports(std::vector<core::PublishedPort> ports);
  [[nodiscard]] std::vector<PortState> ports() const;
  [[nodiscard]] std::uint32_t notify_count() const;
  Explained explain(const core::Endpoint& destination);

  /// Called once when every notify fd has hung up.
  void on_ended(std::function<void()> ended) { ended_ = std::move(ended); }

 private:
  struct Parts;
  struct Served;
  Session(boost::asio::io_context& loop, sys::SessionMemory& memory);
  Status assemble(SessionStart start);
  void wait_notify(std::uint64_t key);
  void on_notify(std::uint64_t key);
  void hang_up(std::uint64_t key);
  void wait_connections();
  void wait_listeners();
  void arm_timer();
  void retry_starved();

  boost::asio::io_context& loop_;
  sys::SessionMemory& memory_;
  std::unique_ptr<Parts> parts_;
  std::map<std::uint64_t, std::unique_ptr<Served>> served_;
  boost::asio::steady_timer timer_;
  bool timer_armed_ = false;
  /// Notify fds with calls for which there was no slot; polled again when one may be free.
  std::vector<std::uint64_t> starved_;
  std::function<void()> ended_;
};

}  // namespace sockhop::engine
