// Joins what a user registers with what a runtime sends: the two halves of one container, by OCI
// id.
//
//   registered | notify fd | result
//   no         | yes       | a session with the default policy, no ports
//   yes        | no        | endpoints reserved; dropped with a message after kPatience
//   yes        | yes       | a session with its ports and rules, whichever came first
//   any        | all gone  | the session has ended and its registration with it
//   unregister | yes       | endpoints closed, the session goes on with the default policy
//
// Each event tells the keeper what is to be done; the table itself does nothing. Time is passed in.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/policy.h"
#include "core/port_table.h"

namespace sockhop::core {

/// What `sockhop register` asked for.
struct Registration {
  std::vector<PublishedPort> ports;
  std::vector<Rule> rules;  // before the daemon's
};

class JoinTable {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// How long endpoints stay reserved for a container that does not come.
  static constexpr std::chrono::seconds kPatience{60};
  /// Containers and waiting registrations together: each costs a process or descriptors.
  static constexpr std::size_t kMaxEntries = 4096;

  /// One container as the table knows it.
  struct Entry {
    std::optional<Registration> registration;
    bool has_session = false;
    bool accelerate = true;  // cleared by `sockhop off`
    Time deadline{};         // of a registration that waits for its container
  };

  enum class OnRegister { wait_for_container, push_to_session };
  enum class OnNotify { start_session, add_to_session };
  enum class OnUnregister { release_endpoints, reset_session };

  /// EEXIST when the id is registered already, ENOSPC when the table is full, EINVAL for a bad id.
  Result<OnRegister> add_registration(const std::string& id, Registration registration, Time now);
  /// A notify fd came. ENOSPC as above.
  Result<OnNotify> add_notify_fd(const std::string& id);
  /// ENOENT when the id is not registered.
  Result<OnUnregister> remove_registration(const std::string& id);
  /// The last notify fd hung up, or the session died: nothing of the container is left.
  void session_ended(const std::string& id);
  /// Takes out the registrations whose container did not come in time, and names them.
  std::vector<std::string> take_expired(Time now);
  /// When take_expired() has something to do next.
  [[nodiscard]] std::optional<Time> next_deadline() const;
  /// A session that outlived the keeper before this one.
  void adopt_session(const std::string& id, std::optional<Registration> registration,
                     bool accelerate);
  /// ENOENT when neither registration nor session is known.
  Status set_acceleration(const std::string& id, bool on);

  /// Null when unknown.
  [[nodiscard]] const Entry* find(const std::string& id) const;
  [[nodiscard]] const std::map<std::string, Entry>& entries() const { return entries_; }

 private:
  Status admit(const std::string& id) const;

  std::map<std::string, Entry> entries_;
};

}  // namespace sockhop::core
