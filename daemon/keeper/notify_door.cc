#include "keeper/notify_door.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <utility>
#include <variant>

#include "sys/netns.h"
#include "sys/notify_check.h"

namespace sockhop::keeper {
namespace {

constexpr std::size_t kReadAtOnce = 64 * 1024;
// The specification asks for one; some agents get a few more.
constexpr std::size_t kMaxDescriptorsPerConnection = 16;

}  // namespace

NotifyDoor::NotifyDoor(boost::asio::io_context& loop, UniqueFd listener,
                       std::size_t max_connections, Events events)
    : loop_(loop),
      listener_(std::move(listener)),
      max_connections_(max_connections),
      events_(std::move(events)),
      acceptor_(loop, listener_, "seccomp.sock",
                [this](UniqueFd socket) { take_in(std::move(socket)); }) {}

void NotifyDoor::take_in(UniqueFd socket) {
  if (connections_.size() >= max_connections_) {
    if (!std::exchange(full_, true)) {
      spdlog::error("seccomp.sock: {} connections are open; more are refused", max_connections_);
    }
    return;
  }
  full_ = false;
  auto connection = admit(std::move(socket));
  if (!connection) {
    spdlog::warn("seccomp.sock: refused: {}", to_string(connection.error()));
    return;
  }
  const std::uint64_t number = ++last_number_;
  auto& kept = connections_.emplace(number, std::move(*connection)).first->second;
  kept.watch = std::make_unique<Watch>(loop_, kept.socket, [this, number] { read(number); });
}

// Looked at once, when it connects. `runc create` may have ended by then: its user and its network
// namespace are still known, by the socket, and must do.
Result<NotifyDoor::Connection> NotifyDoor::admit(UniqueFd socket) const {
  const auto peer = sys::peer_of(socket);
  if (!peer) return peer.error();
  const std::string who = "pid " + std::to_string(peer->pid);
  if (peer->uid != ::geteuid()) return Error{EPERM, "peer", who + " belongs to another user"};
  Connection connection;
  connection.pid = peer->pid;
  core::Namespaces of_socket;
  if (auto middle = sys::netns_of_peer(socket)) {
    if (const auto inode = sys::namespace_inode(*middle)) of_socket.network = *inode;
    connection.middle = std::move(*middle);
  }
  connection.socket = std::move(socket);
  auto of_process = sys::namespaces_of(peer->pid);
  const bool known = of_process && sys::still_there(*peer);
  connection.runtime = known ? std::move(*of_process) : of_socket;
  if (!events_.admits(of_socket) || !events_.admits(connection.runtime)) {
    return Error{EPERM, "peer", who + " is a process of a container"};
  }
  return connection;
}

void NotifyDoor::read(std::uint64_t number) {
  const auto found = connections_.find(number);
  if (found == connections_.end()) return;
  auto received = sys::receive_with_descriptors(found->second.socket, kReadAtOnce);
  if (!received) {
    if (received.error().code == EAGAIN) return;
    spdlog::warn("seccomp.sock: pid {}: {}", found->second.pid, to_string(received.error()));
    connections_.erase(found);
    return;
  }
  if (take(found->second, std::move(*received))) connections_.erase(found);
}

bool NotifyDoor::take(Connection& connection, sys::Received received) {
  if (received.end) return true;  // a connection may end without a message
  auto& descriptors = connection.descriptors;
  for (auto& descriptor : received.descriptors) descriptors.push_back(std::move(descriptor));
  if (received.descriptors_lost || descriptors.size() > kMaxDescriptorsPerConnection) {
    spdlog::warn("seccomp.sock: pid {}: more than {} descriptors came; send one", connection.pid,
                 kMaxDescriptorsPerConnection);
    return true;
  }
  auto progress = connection.reader.feed(received.bytes);
  if (std::holds_alternative<core::OciStateReader::NeedMore>(progress)) return false;
  if (const auto* error = std::get_if<Error>(&progress)) {
    spdlog::warn("seccomp.sock: pid {}: {}", connection.pid, to_string(*error));
  } else {
    arrived(connection, std::get<core::OciState>(std::move(progress)));
  }
  return true;
}

void NotifyDoor::arrived(Connection& connection, core::OciState state) {
  const int index = state.seccomp_fd_index();
  if (index < 0 || static_cast<std::size_t>(index) >= connection.descriptors.size() ||
      !sys::is_notify_fd(connection.descriptors[static_cast<std::size_t>(index)])) {
    spdlog::warn("seccomp.sock: container {}: pid {} sent no seccomp notify fd", state.id,
                 connection.pid);
    return;
  }
  auto& notify = connection.descriptors[static_cast<std::size_t>(index)];
  events_.on_arrival({std::move(state), std::move(notify), std::move(connection.middle),
                      std::move(connection.runtime)});
}

}  // namespace sockhop::keeper
