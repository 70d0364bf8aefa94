#include "keeper/notify_door.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <utility>
#include <variant>

#include "sys/netns.h"
#include "sys/notify_check.h"
#include "sys/unix_socket.h"

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
      watch_(loop, listener_, [this] { accept(); }) {}

void NotifyDoor::accept() {
  auto socket = sys::accept_unix(listener_);
  if (!socket) {
    spdlog::error("seccomp.sock: {}", to_string(socket.error()));
    return;
  }
  if (!*socket) return;
  if (connections_.size() >= max_connections_) {
    if (!std::exchange(full_, true)) {
      spdlog::error("seccomp.sock: {} connections are open; more are refused", max_connections_);
    }
    return;
  }
  full_ = false;
  auto connection = admit(std::move(*socket));
  if (!connection) {
    spdlog::warn("seccomp.sock: refused: {}", to_string(connection.error()));
    return;
  }
  const std::uint64_t number = ++last_number_;
  auto& kept = connections_.emplace(number, std::move(*connection)).first->second;
  kept.watch = std::make_unique<Watch>(loop_, kept.socket, [this, number] { read(number); });
}

// Looked at once, when it connects: a runtime may be gone when its message is complete.
Result<NotifyDoor::Connection> NotifyDoor::admit(UniqueFd socket) const {
  const auto peer = sys::peer_of(socket);
  if (!peer) return peer.error();
  const std::string who = "pid " + std::to_string(peer->pid);
  if (peer->uid != ::geteuid()) return Error{EPERM, "peer", who + " belongs to another user"};
  auto runtime = sys::namespaces_of(peer->pid);
  if (!runtime) return runtime.error();
  auto middle = sys::open_netns_of_process(peer->pid);
  if (!middle) return middle.error();
  if (!sys::still_there(*peer)) return Error{ESRCH, "peer", who + " has ended"};
  if (!events_.admits(*runtime)) return Error{EPERM, "peer", who + " is a process of a container"};
  Connection connection;
  connection.socket = std::move(socket);
  connection.middle = std::move(*middle);
  connection.runtime = std::move(*runtime);
  connection.pid = peer->pid;
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
