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
  UniqueFd middle;           // the network namespace of the runtime that sent it
  std::int64_t pid = 0;      // of the container's init; 0 when unknown
  core::Namespaces runtime;  // of the one that sent it, as far as known
  core::ContainerMark mark;
  std::vector<core::Uplink> uplinks;
  int attempts = 0;  // sessions that were started for it
};

/// What a session gets, or has left when it ends.
struct Belongings {
  std::list<NotifyFd> notify;
  std::vector<UniqueFd> endpoints;  // bound sockets of its published ports, in their order
};

/// How a session ended. What it had not taken over goes to the next one.
struct SessionEnd {
  Belongings left;
  bool was_started = false;
  std::string reason;  // why it was not
};

struct Session {
  std::unique_ptr<SessionLink> link;
  std::string socket_path;
  pid_t pid = 0;             // 0 when an earlier keeper started it
  std::uint64_t number = 0;  // never given twice
  core::Namespaces runtime;
  core::ContainerMark mark;
  bool started = false;  // it has answered Start
  bool found = true;     // the container's process was known, or its first call has told
  bool ended = false;    // it has said that its container is gone
  /// Sent, but not yet confirmed: if the session ends meanwhile, the next one gets them.
  Belongings unconfirmed;
  std::string refusal;  // of Start
};

class Sessions {
 public:
  struct Events {
    /// The session is gone and forgotten, or could not be started at all.
    std::function<void(const std::string& id, SessionEnd end)> on_end;
    /// A running session does not take a notify fd.
    std::function<void(const std::string& id, NotifyFd notify, const Error& error)> on_refused;
    std::function<void(const std::string& id, const internal::Status& status)> on_adopted;
    /// The first call of a container whose process was unknown has told where it lives.
    std::function<void(const std::string& id, const internal::Found& found)> on_found;
  };

  Sessions(boost::asio::io_context& loop, sys::RuntimeDir dir, Events events);

  /// Spawns a session and sends it Start with the first notify fd and the bound sockets of
  /// start.ports(); further notify fds follow. What fails is told by on_end, perhaps within this
  /// call. Precondition: at least one notify fd.
  void start(internal::Start start, Belongings belongings);
  /// Precondition for this and the next: find(id).
  void add_notify_fd(const std::string& id, NotifyFd notify);
  void ask(const std::string& id, internal::ToSession request,
           const std::vector<UniqueFd>& endpoints, SessionLink::OnReply on_reply);

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
  void found(const std::string& id, const internal::Found& where);
  void send_start(const std::string& id, internal::Start start);
  void start_answered(const std::string& id, std::list<NotifyFd>::iterator notify,
                      const Result<internal::FromSession>& reply);
  void notify_answered(const std::string& id, std::list<NotifyFd>::iterator notify,
                       const Result<internal::FromSession>& reply);
  void end_refused(const std::string& id, std::uint64_t number);
  void gone(const std::string& path);
  /// Destroys a link once its own callback, which may be the caller, has returned.
  void retire(std::unique_ptr<SessionLink> link);

  boost::asio::io_context& loop_;
  sys::RuntimeDir dir_;
  Events events_;
  std::map<std::string, Session> sessions_;
  std::uint64_t last_number_ = 0;
  /// Which session is behind a socket path. A link tells its path, because it is made before the
  /// session of an earlier keeper has said who it is.
  std::map<std::string, std::string> ids_;
  std::map<std::string, std::unique_ptr<SessionLink>> strangers_;  // by path; not yet known by id
};

}  // namespace sockhop::keeper
