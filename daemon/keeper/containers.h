// The containers of one daemon: what arrives is joined by core::JoinTable, and what that says is
// done to sessions and host endpoints here.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/config.h"
#include "core/join.h"
#include "keeper/notify_door.h"
#include "keeper/sessions.h"
#include "keeper/waiting_file.h"
#include "sys/runtime_dir.h"

namespace sockhop::keeper {

class Containers {
 public:
  using Time = core::JoinTable::Time;
  using OnDone = std::function<void(Status)>;

  /// Published ports of one container: their descriptors fit one message beside the first two.
  static constexpr std::size_t kMaxPorts = 240;

  Containers(boost::asio::io_context& loop, const sys::RuntimeDir& dir, core::Config config);

  /// Is the process one of a container that is served here?
  [[nodiscard]] bool has_process(const core::Namespaces& process) const;
  void on_arrival(Arrival arrival);
  /// Takes over the registrations that waited when the keeper before this one ended; their time
  /// begins anew. Once its sessions are known.
  void recall_waiting();
  /// New policy for everybody.
  void set_config(core::Config config);

  /// Each calls `on_done` once, now or when the session has answered.
  void add_registration(const std::string& id, core::Registration registration, OnDone on_done);
  void remove_registration(const std::string& id, OnDone on_done);
  void set_acceleration(const std::string& id, bool on, OnDone on_done);

  Sessions& sessions() { return sessions_; }
  [[nodiscard]] const core::JoinTable& table() const { return table_; }

  void expire(Time now);
  [[nodiscard]] std::optional<Time> next_deadline() const;

 private:
  /// Is the process one of this container and of no other, as far as can be told?
  [[nodiscard]] bool is_of(const std::string& id, const core::Namespaces& process) const;
  void recall(const std::string& id, Waiting waiting);
  /// After each change of a registration that waits.
  void remember_waiting();
  void join(const std::string& id, NotifyFd notify);
  void start_session(const std::string& id, Belongings belongings);
  /// Sees to it that there is a socket for each published port.
  void complete(std::vector<UniqueFd>& endpoints, const std::string& id);
  void on_session_end(const std::string& id, SessionEnd end);
  void on_adopted(const std::string& id, const internal::Status& status);
  void on_found(const std::string& id, const internal::Found& found);
  /// Tells the session of `id` what the table says of it.
  void push(const std::string& id, const std::vector<UniqueFd>& endpoints, OnDone on_done);
  void push_policy(const std::string& id, OnDone on_done);
  internal::Policy policy_message(const std::string& id) const;

  sys::RuntimeDir dir_;
  core::Config config_;
  core::JoinTable table_;
  Sessions sessions_;
  /// Bound sockets of registrations whose container has not come.
  std::map<std::string, std::vector<UniqueFd>> endpoints_;
};

}  // namespace sockhop::keeper
