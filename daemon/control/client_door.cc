#include "control/client_door.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "sys/peer.h"
#include "sys/readiness.h"
#include "sys/unix_socket.h"

namespace sockhop::control {
namespace {

constexpr int kPauseMs = 100;

}  // namespace

ClientDoor::ClientDoor(UniqueFd listener, Keeper& keeper, std::function<void(UniqueFd)> serve)
    : listener_(std::move(listener)), keeper_(keeper), serve_(std::move(serve)) {
  if (auto ends = sys::packet_pair()) stop_ = std::move(*ends);
  thread_ = std::thread([this] { run(); });
}

ClientDoor::~ClientDoor() {
  stop_.second.reset();
  thread_.join();
}

void ClientDoor::run() {
  bool said = false;
  while (sys::wait_readable_unless(listener_, stop_.first)) {
    auto connection = sys::accept_unix(listener_);
    if (!connection) {
      if (!std::exchange(said, true)) {
        spdlog::error("sockhop.sock: {}; clients wait, raise the limit of open files (ulimit -n)",
                      to_string(connection.error()));
      }
      sys::wait_readable_for(stop_.first, kPauseMs);
      continue;
    }
    said = false;
    if (*connection) take_in(std::move(*connection));
  }
}

void ClientDoor::take_in(UniqueFd connection) {
  const auto peer = sys::peer_of(connection);
  if (!peer) return;
  internal::ToKeeper question;
  question.mutable_admit()->set_pid(peer->pid);
  question.mutable_admit()->set_uid(peer->uid);
  // The keeper logs whom it refuses. Its answer counts if the pid still is the process it was.
  if (keeper_.ask(question) && sys::still_there(*peer)) serve_(std::move(connection));
}

}  // namespace sockhop::control
