// Stands for sockhop-session in tests of the keeper: speaks the channel, holds what it is given and
// ends with its notify fds, but serves nothing.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "session.pb.h"
#include "sys/message_channel.h"
#include "sys/notify_check.h"
#include "sys/unix_socket.h"

namespace {

using namespace sockhop;

constexpr int kChannel = 3;
constexpr int kListener = 4;

struct Session {
  sys::MessageChannel channel{UniqueFd(kChannel)};
  UniqueFd listener{kListener};
  internal::Status status;
  std::vector<UniqueFd> notify_fds;
  std::vector<UniqueFd> endpoints;
};

void set_ports(Session& session, const google::protobuf::RepeatedPtrField<internal::Port>& ports,
               std::vector<UniqueFd>& descriptors, std::size_t first) {
  session.status.clear_ports();
  for (const auto& port : ports) *session.status.add_ports()->mutable_port() = port;
  session.endpoints.clear();
  for (std::size_t i = first; i < descriptors.size(); ++i) {
    session.endpoints.push_back(std::move(descriptors[i]));
  }
}

void start(Session& session, const internal::Start& start, std::vector<UniqueFd>& descriptors) {
  session.status.set_container(start.container());
  *session.status.mutable_policy() = start.policy();
  session.status.set_keeper_notes(start.keeper_notes());
  session.status.set_engine_pid(start.pid());  // for tests to see
  session.notify_fds.push_back(std::move(descriptors.at(0)));
  set_ports(session, start.ports(), descriptors, 2);
}

internal::Status status_of(const Session& session) {
  internal::Status status = session.status;
  status.set_notify_fds(static_cast<std::uint32_t>(session.notify_fds.size()));
  status.set_guard_pid(::getpid());
  status.set_accelerate(status.policy().accelerate());
  return status;
}

void handle(Session& session, const internal::ToSession& request,
            std::vector<UniqueFd>& descriptors) {
  internal::FromSession reply;
  reply.set_serial(request.serial());
  reply.set_ok(true);
  if (request.has_start()) start(session, request.start(), descriptors);
  if (request.has_add_notify()) session.notify_fds.push_back(std::move(descriptors.at(0)));
  if (request.has_set_ports()) set_ports(session, request.set_ports().ports(), descriptors, 0);
  if (request.has_set_policy()) {
    *session.status.mutable_policy() = request.set_policy().policy();
    session.status.set_keeper_notes(request.set_policy().keeper_notes());
  }
  if (request.has_status()) *reply.mutable_status() = status_of(session);
  if (request.has_explain()) {
    reply.mutable_explanation()->set_verdict("stay");
    // So that tests can see which policy arrived.
    for (const auto& rule : session.status.policy().rules()) {
      reply.mutable_explanation()->add_steps()->set_what(rule);
    }
  }
  (void)session.channel.send(reply.SerializeAsString());
}

void read_channel(Session& session) {
  auto received = session.channel.receive();
  internal::ToSession request;
  if (!received || received->end || !request.ParseFromString(received->bytes)) {
    session.channel.close();  // the keeper has gone: the session goes on
    return;
  }
  handle(session, request, received->descriptors);
}

void accept_keeper(Session& session) {
  auto connection = sys::accept_unix(session.listener);
  if (!connection || !*connection) return;
  session.channel = sys::MessageChannel(std::move(*connection));
  internal::FromSession hello;
  *hello.mutable_status() = status_of(session);
  (void)session.channel.send(hello.SerializeAsString());
}

/// False when the last notify fd has hung up.
bool drop_ended(Session& session) {
  if (session.notify_fds.empty()) return true;  // Start has not come
  std::erase_if(session.notify_fds, [](const UniqueFd& fd) { return sys::has_hung_up(fd); });
  if (!session.notify_fds.empty()) return true;
  internal::FromSession farewell;
  farewell.set_ended(true);
  if (session.channel.open()) (void)session.channel.send(farewell.SerializeAsString());
  return false;
}

}  // namespace

int main() {
  Session session;
  while (drop_ended(session)) {
    std::vector<pollfd> waiting{{session.listener.get(), POLLIN, 0},
                                {session.channel.socket().get(), POLLIN, 0}};
    for (const auto& notify : session.notify_fds) waiting.push_back({notify.get(), 0, 0});
    if (::poll(waiting.data(), waiting.size(), -1) < 0) return 1;
    if (waiting[1].revents != 0) read_channel(session);
    if (waiting[0].revents != 0) accept_keeper(session);
  }
  return 0;
}
