#include "keeper/control_door.h"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <utility>

#include "sys/peer.h"
#include "sys/spawn.h"
#include "sys/unix_socket.h"

namespace sockhop::keeper {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kFirstPause = 50ms;
constexpr std::chrono::milliseconds kLongestPause = 5s;
/// Having run for so long, control counts as healthy and its next pause is the first one again.
constexpr auto kHealthyAfter = 30s;

}  // namespace

ControlDoor::ControlDoor(boost::asio::io_context& loop, UniqueFd listener, std::string log_level,
                         Events events)
    : loop_(loop),
      listener_(std::move(listener)),
      log_level_(std::move(log_level)),
      events_(std::move(events)),
      pause_(kFirstPause) {
  start_or_retry();
}

ControlDoor::~ControlDoor() {
  if (pid_ > 0) sys::signal_child(pid_, SIGTERM);
}

Status ControlDoor::start() {
  auto program = sys::find_program("sockhop-control");
  if (!program) return program.error();
  auto ends = sys::packet_pair();
  if (!ends) return ends.error();
  auto pid = sys::spawn({*program, {"--log-level", log_level_}, {ends->second, listener_}});
  if (!pid) return pid.error();
  pid_ = *pid;
  ++generation_;
  channel_ = sys::MessageChannel(std::move(ends->first));
  channel_watch_ = std::make_unique<Watch>(loop_, channel_.socket(), [this] { read(); });
  started_at_ = std::chrono::steady_clock::now();
  return {};
}

void ControlDoor::start_or_retry() {
  restart_at_.reset();
  if (auto started = start(); !started) {
    spdlog::error("control: {}", to_string(started.error()));
    retry_later();
  }
}

void ControlDoor::retry_later() {
  restart_at_ = std::chrono::steady_clock::now() + pause_;
  pause_ = std::min(pause_ * 2, kLongestPause);
}

bool ControlDoor::child_ended(pid_t pid, const std::string& how) {
  if (pid != pid_) return false;
  spdlog::warn("control ended with {}; starting it again", how);
  pid_ = 0;
  channel_watch_.reset();
  channel_.close();
  if (std::chrono::steady_clock::now() - started_at_ > kHealthyAfter) pause_ = kFirstPause;
  retry_later();
  return true;
}

void ControlDoor::expire(Time now) {
  if (restart_at_ && *restart_at_ <= now) start_or_retry();
}

Status ControlDoor::admit(const internal::AdmitClient& client) const {
  const std::string who = "pid " + std::to_string(client.pid());
  if (client.uid() != ::geteuid()) return Error{EPERM, "client", who + " belongs to another user"};
  const auto process = sys::namespaces_of(client.pid());
  if (!process) return process.error();
  if (!events_.admits(*process))
    return Error{EPERM, "client", who + " is a process of a container"};
  return {};
}

void ControlDoor::read() {
  const auto received = channel_.receive();
  if (!received && received.error().code == EAGAIN) return;
  internal::ToKeeper request;
  if (!received || received->end || !request.ParseFromString(received->bytes)) {
    // Its end is told by SIGCHLD; a process that talks nonsense is ended.
    channel_watch_.reset();
    if (pid_ > 0) sys::signal_child(pid_, SIGKILL);
    return;
  }
  if (request.has_admit()) return answer_client(request);
  events_.on_request(request, [this, generation = generation_,
                               serial = request.serial()](internal::FromKeeper message) {
    message.set_serial(serial);
    reply(generation, message);
  });
}

void ControlDoor::answer_client(const internal::ToKeeper& request) {
  internal::FromKeeper message;
  message.set_serial(request.serial());
  if (const auto admitted = admit(request.admit())) {
    message.set_ok(true);
  } else {
    // A client may be gone: `sockhop` first looks whether anybody listens.
    const bool gone = admitted.error().code == ENOENT || admitted.error().code == ESRCH;
    spdlog::log(gone ? spdlog::level::debug : spdlog::level::warn, "sockhop.sock: refused: {}",
                to_string(admitted.error()));
    message.mutable_failure()->set_code(admitted.error().code);
    message.mutable_failure()->set_text(admitted.error().detail);
  }
  reply(generation_, message);
}

void ControlDoor::reply(std::uint64_t generation, const internal::FromKeeper& message) {
  if (generation != generation_ || !channel_.open()) return;
  if (auto sent = channel_.send(message.SerializeAsString()); !sent) {
    spdlog::warn("control: answer not sent: {}", to_string(sent.error()));
  }
}

}  // namespace sockhop::keeper
