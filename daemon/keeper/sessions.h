// The session processes of this daemon: starting them, finding those of an earlier keeper, hearing
// of their end.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/admission.h"
#include "core/route_answer.h"
#include "keeper/session_link.h"
#include "sys/runtime_dir.h"

namespace sockhop::keeper {

/// A notify fd with what its session has to know about it.
struct NotifyFd {
  UniqueFd notify;
  UniqueFd middle;       // the network namespace of the runtime that sent it
  std::int64_t pid = 0;  // of the container's init; 0 when unknown
  core::ContainerMark mark;
  std::vector<core::Uplink> uplinks;
};

struct Session {
  std::unique_ptr<SessionLink> link;
  std::string socket_path;
  pid_t pid = 0;  // 0 when an earlier keeper started it
  core::ContainerMark mark;
  bool started = false;  // it has answered Start
  bool ended = false;    // it has said that its container is gone
  /// Sent, but not yet confirmed: if the session ends meanwhile, the next one gets them.
  std::list<NotifyFd> unconfirmed;
};

class Sessions {
 public:
  struct Events {
    /// The session is gone and forgotten; what it had not taken over is handed back.
    std::function<void(const std::string& id, std::list<NotifyFd> left, bool was_started)> on_end;
    std::function<void(const std::string& id, const internal::Status& status)> on_adopted;
  };

  Sessions(boost::asio::io_context& loop, sys::RuntimeDir dir, Events events);

  /// Spawns a session and sends it Start; `endpoints` are the bound sockets of start.ports().
  Status start(internal::Start start, NotifyFd notify, std::vector<UniqueFd> endpoints);
  /// Precondition for this and the next: find(id).
  void add_notify_fd(const std::string& id, NotifyFd notify);
  void ask(const std::string& id, internal::ToSession request, std::vector<UniqueFd> endpoints,
           SessionLink::OnReply on_reply);

  [[nodiscard]] Session* find(const std::string& id);
  [[nodiscard]] const std::map<std::string, Session>& all() const { return sessions_; }

  /// Connects to the sessions of an earlier keeper; each reports itself (on_adopted).
  void adopt_all();
  [[nodiscard]] bool adopting() const { return !strangers_.empty(); }

  /// Logs the death of a session process that nobody expected.
  void child_ended(pid_t pid, const std::string& how);

  void expire(SessionLink::Time now);
  [[nodiscard]] std::optional<SessionLink::Time> next_deadline() const;

 private:
  std::unique_ptr<SessionLink> make_link(const std::string& path, sys::MessageChannel channel);
  void adopt(const std::string& path);
  void heard(const std::string& path, const internal::FromSession& message);
  void introduce(const std::string& path, const internal::Status& status);
  void confirm(const std::string& id, std::list<NotifyFd>::iterator notify,
               const Result<internal::FromSession>& reply);
  void gone(const std::string& path);
  /// Destroys a link once its own callback, which may be the caller, has returned.
  void retire(std::unique_ptr<SessionLink> link);

  boost::asio::io_context& loop_;
  sys::RuntimeDir dir_;
  Events events_;
  std::map<std::string, Session> sessions_;
  /// Which session is behind a socket path. A link tells its path, because it is made before the
  /// session of an earlier keeper has said who it is.
  std::map<std::string, std::string> ids_;
  std::map<std::string, std::unique_ptr<SessionLink>> strangers_;  // by path; not yet known by id
};

}  // namespace sockhop::keeper
