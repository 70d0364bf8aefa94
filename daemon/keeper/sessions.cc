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

Status Sessions::start(internal::Start start, NotifyFd notify, std::vector<UniqueFd> endpoints) {
  const std::string id = start.container();
  const std::size_t room = sizeof(sockaddr_un::sun_path) - 1 - dir_.sessions().size() - 1;
  const std::string path = dir_.session_socket(core::session_file_name(id, room));
  auto spawned = spawn_session(id, path);
  if (!spawned) return spawned.error();

  Session& session = sessions_[id];
  session.socket_path = path;
  session.pid = spawned->pid;
  session.mark = notify.mark;
  session.link = make_link(path, std::move(spawned->channel));
  ids_[path] = id;
  const auto kept = session.unconfirmed.insert(session.unconfirmed.end(), std::move(notify));
  std::vector<FdRef> descriptors{kept->notify, kept->middle};
  for (const auto& endpoint : endpoints) descriptors.emplace_back(endpoint);
  internal::ToSession request;
  *request.mutable_start() = std::move(start);
  session.link->ask(std::move(request), descriptors,
                    [this, id, kept](const Result<internal::FromSession>& reply) {
                      if (reply) sessions_.at(id).started = true;
                      confirm(id, kept, reply);
                    });
  return {};
}

void Sessions::add_notify_fd(const std::string& id, NotifyFd notify) {
  Session& session = sessions_.at(id);
  const auto kept = session.unconfirmed.insert(session.unconfirmed.end(), std::move(notify));
  const std::vector<FdRef> descriptors{kept->notify};
  internal::ToSession request;
  request.mutable_add_notify()->set_pid(kept->pid);
  session.link->ask(
      std::move(request), descriptors,
      [this, id, kept](const Result<internal::FromSession>& reply) { confirm(id, kept, reply); });
}

void Sessions::confirm(const std::string& id, std::list<NotifyFd>::iterator notify,
                       const Result<internal::FromSession>& reply) {
  if (reply) {
    sessions_.at(id).unconfirmed.erase(notify);
    return;
  }
  // EPIPE: gone() hands the descriptor to the next session. A session that is merely slow has it in
  // its queue, and keeps it when this copy goes.
  if (reply.error().code == EPIPE) return;
  spdlog::warn("container {}: notify fd not confirmed: {}", id, to_string(reply.error()));
  if (reply.error().code != ETIMEDOUT) sessions_.at(id).unconfirmed.erase(notify);
}

void Sessions::ask(const std::string& id, internal::ToSession request,
                   std::vector<UniqueFd> endpoints, SessionLink::OnReply on_reply) {
  sessions_.at(id).link->ask(std::move(request), references(endpoints), std::move(on_reply));
}

Session* Sessions::find(const std::string& id) {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : &found->second;
}

void Sessions::heard(const std::string& path, const internal::FromSession& message) {
  if (message.has_status() && strangers_.contains(path)) introduce(path, message.status());
  if (!message.ended()) return;
  if (const auto known = ids_.find(path); known != ids_.end()) {
    sessions_.at(known->second).ended = true;
  }
  gone(path);
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
  if (!session.ended) {
    spdlog::error(
        "container {}: its session died; calls of the container that were notified to it "
        "fail from now on, restart the container",
        id);
  }
  sys::remove_socket(path);
  retire(std::move(session.link));
  events_.on_end(id, std::move(session.unconfirmed), session.started);
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
  session.started = true;
  ids_[path] = id;
  events_.on_adopted(id, status);
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
