#include "keeper/sessions.h"

#include <spdlog/spdlog.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "core/oci_state.h"
#include "sys/peer.h"
#include "sys/spawn.h"
#include "sys/unix_socket.h"

namespace sockhop::keeper {
namespace {

struct Spawned {
  pid_t pid = 0;
  sys::MessageChannel channel;
};

Result<Spawned> spawn_session(const std::string& id, const std::string& socket_path) {
  auto program = sys::find_program("sockhop-session");
  if (!program) return program.error();
  auto ends = sys::packet_pair();
  if (!ends) return ends.error();
  const auto listener = sys::listen_unix(socket_path, sys::SocketKind::packets);
  if (!listener) return listener.error();
  auto pid = sys::spawn({*program, {"--id", id}, {ends->second, *listener}});
  if (!pid) {
    sys::remove_socket(socket_path);
    return pid.error();
  }
  return Spawned{*pid, sys::MessageChannel(std::move(ends->first))};
}

std::vector<FdRef> references(const std::vector<UniqueFd>& owners) {
  return {owners.begin(), owners.end()};
}

}  // namespace

Sessions::Sessions(boost::asio::io_context& loop, sys::RuntimeDir dir, Events events)
    : loop_(loop), dir_(std::move(dir)), events_(std::move(events)) {}

std::unique_ptr<SessionLink> Sessions::make_link(const std::string& path,
                                                 sys::MessageChannel channel) {
  return std::make_unique<SessionLink>(
      loop_, std::move(channel),
      SessionLink::Events{[this, path](const auto& message) { heard(path, message); },
                          [this, path] { gone(path); }});
}

void Sessions::start(internal::Start start, Belongings belongings) {
  const std::string id = start.container();
  const std::size_t room = sizeof(sockaddr_un::sun_path) - 1 - dir_.sessions().size() - 1;
  const std::string path = dir_.session_socket(core::session_file_name(id, room));
  for (auto& notify : belongings.notify) ++notify.attempts;
  auto spawned = spawn_session(id, path);
  if (!spawned) {
    return events_.on_end(id, {std::move(belongings), false, to_string(spawned.error())});
  }
  Session& session = sessions_[id];
  session.number = ++last_number_;
  session.socket_path = path;
  session.pid = spawned->pid;
  session.runtime = belongings.notify.front().runtime;
  session.mark = belongings.notify.front().mark;
  session.found = start.pid() != 0;
  session.link = make_link(path, std::move(spawned->channel));
  ids_[path] = id;
  auto further = std::move(belongings.notify);
  session.unconfirmed.notify.splice(session.unconfirmed.notify.end(), further, further.begin());
  session.unconfirmed.endpoints = std::move(belongings.endpoints);
  send_start(id, std::move(start));
  for (auto& notify : further) add_notify_fd(id, std::move(notify));
}

void Sessions::send_start(const std::string& id, internal::Start start) {
  Session& session = sessions_.at(id);
  const auto kept = session.unconfirmed.notify.begin();
  std::vector<FdRef> descriptors{kept->notify, kept->middle};
  for (const auto& endpoint : session.unconfirmed.endpoints) descriptors.emplace_back(endpoint);
  internal::ToSession request;
  *request.mutable_start() = std::move(start);
  session.link->ask(std::move(request), descriptors,
                    [this, id, kept](const Result<internal::FromSession>& reply) {
                      start_answered(id, kept, reply);
                    });
}

void Sessions::start_answered(const std::string& id, std::list<NotifyFd>::iterator notify,
                              const Result<internal::FromSession>& reply) {
  Session& session = sessions_.at(id);
  if (reply) {
    session.started = true;
    session.unconfirmed.endpoints.clear();
    session.unconfirmed.notify.erase(notify);
    return;
  }
  // EPIPE: gone() has it already.
  if (reply.error().code == EPIPE) return;
  if (reply.error().code == ETIMEDOUT) {
    // Merely slow: it has all in its queue, and a second owner would keep its ports bound.
    session.unconfirmed.endpoints.clear();
    if (session.found) spdlog::warn("container {}: its session is slow to start", id);
    return;
  }
  session.refusal = to_string(reply.error());
  // Later: this may be called while the request is being sent.
  boost::asio::post(loop_, [this, id, number = session.number] { end_refused(id, number); });
}

void Sessions::end_refused(const std::string& id, std::uint64_t number) {
  if (const auto* session = find(id); session && session->number == number) {
    gone(std::string(session->socket_path));
  }
}

void Sessions::add_notify_fd(const std::string& id, NotifyFd notify) {
  Session& session = sessions_.at(id);
  auto& all = session.unconfirmed.notify;
  const auto kept = all.insert(all.end(), std::move(notify));
  const std::vector<FdRef> descriptors{kept->notify};
  internal::ToSession request;
  request.mutable_add_notify()->set_pid(kept->pid);
  session.link->ask(std::move(request), descriptors,
                    [this, id, kept](const Result<internal::FromSession>& reply) {
                      notify_answered(id, kept, reply);
                    });
}

void Sessions::notify_answered(const std::string& id, std::list<NotifyFd>::iterator notify,
                               const Result<internal::FromSession>& reply) {
  // EPIPE: gone() hands the descriptor to the next session. A session that is merely slow has it in
  // its queue.
  if (!reply && reply.error().code == EPIPE) return;
  if (!reply && reply.error().code == ETIMEDOUT) {
    spdlog::warn("container {}: its session is slow to take a notify fd", id);
    return;
  }
  NotifyFd answered = std::move(*notify);
  sessions_.at(id).unconfirmed.notify.erase(notify);
  if (!reply) events_.on_refused(id, std::move(answered), reply.error());
}

void Sessions::ask(const std::string& id, internal::ToSession request,
                   const std::vector<UniqueFd>& endpoints, SessionLink::OnReply on_reply) {
  sessions_.at(id).link->ask(std::move(request), references(endpoints), std::move(on_reply));
}

Session* Sessions::find(const std::string& id) {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : &found->second;
}

void Sessions::heard(const std::string& path, const internal::FromSession& message) {
  if (message.has_status() && strangers_.contains(path)) introduce(path, message.status());
  const auto known = ids_.find(path);
  if (message.status().has_found() && known != ids_.end()) {
    found(known->second, message.status().found());
  }
  if (!message.ended()) return;
  if (known != ids_.end()) sessions_.at(known->second).ended = true;
  gone(path);
}

// Its answer to Start came before this, or too late.
void Sessions::found(const std::string& id, const internal::Found& where) {
  Session& session = sessions_.at(id);
  if (std::exchange(session.found, true)) return;
  if (!session.started) {
    session.started = true;
    session.unconfirmed.notify.pop_front();
  }
  events_.on_found(id, where);
}

void Sessions::gone(const std::string& path) {
  if (auto stranger = strangers_.extract(path); !stranger.empty()) {
    retire(std::move(stranger.mapped()));
    return;
  }
  const auto known = ids_.extract(path);
  if (known.empty()) return;
  const std::string& id = known.mapped();
  sessions_.at(id).link->abandon();
  Session session = std::move(sessions_.extract(id).mapped());
  if (session.started && !session.ended) {
    spdlog::error(
        "container {}: its session died; calls of the container that were notified to it "
        "fail from now on, restart the container",
        id);
  }
  sys::remove_socket(path);
  retire(std::move(session.link));
  if (session.refusal.empty()) session.refusal = "its session ended before it answered";
  events_.on_end(id, {std::move(session.unconfirmed), session.started, session.refusal});
}

void Sessions::retire(std::unique_ptr<SessionLink> link) {
  boost::asio::post(loop_, [link = std::move(link)] {});
}

void Sessions::adopt_all() {
  for (const auto& path : sys::list_session_sockets(dir_)) adopt(path);
}

void Sessions::adopt(const std::string& path) {
  auto socket = sys::connect_unix(path, sys::SocketKind::packets);
  if (!socket) {
    if (socket.error().code == ECONNREFUSED) {
      sys::remove_socket(path);
    } else {
      spdlog::warn("session not taken over: {}", to_string(socket.error()));
    }
    return;
  }
  const auto peer = sys::peer_of(*socket);
  if (peer && peer->uid != ::geteuid()) {
    spdlog::warn("{} is served by uid {}; left alone", path, peer->uid);
    return;
  }
  strangers_[path] = make_link(path, sys::MessageChannel(std::move(*socket)));
}

void Sessions::introduce(const std::string& path, const internal::Status& status) {
  const std::string& id = status.container();
  auto stranger = strangers_.extract(path);
  if (sessions_.contains(id)) {
    spdlog::error("container {}: {} is a second session of it; left alone", id, path);
    retire(std::move(stranger.mapped()));
    return;
  }
  Session& session = sessions_[id];
  session.link = std::move(stranger.mapped());
  session.socket_path = path;
  session.number = ++last_number_;
  session.started = true;
  ids_[path] = id;
  events_.on_adopted(id, status);
  session.found = !session.mark.empty();
}

void Sessions::child_ended(pid_t pid, const std::string& how) {
  for (const auto& [id, session] : sessions_) {
    if (session.pid == pid) spdlog::debug("container {}: guard {} ended with {}", id, pid, how);
  }
}

void Sessions::expire(SessionLink::Time now) {
  // A reply may end a session, so the table can change under a plain iteration.
  std::vector<std::string> ids;
  for (const auto& [id, session] : sessions_) ids.push_back(id);
  for (const auto& id : ids) {
    if (auto* session = find(id)) session->link->expire(now);
  }
}

std::optional<SessionLink::Time> Sessions::next_deadline() const {
  std::optional<SessionLink::Time> next;
  for (const auto& [id, session] : sessions_) {
    if (const auto own = session.link->next_deadline()) next = std::min(next.value_or(*own), *own);
  }
  return next;
}

}  // namespace sockhop::keeper
