#include "control/keeper_client.h"

#include <chrono>
#include <utility>

#include "sys/input_wait.h"

namespace sockhop::control {
namespace {

// Longer than the keeper waits for a session, so that its own message arrives first.
constexpr std::chrono::seconds kPatience{4};

}  // namespace

Result<internal::FromKeeper> KeeperClient::ask(internal::ToKeeper request) {
  std::uint64_t serial = 0;
  {
    const std::lock_guard lock(mutex_);
    if (gone_) return Error{EPIPE, "sockhopd", "is being restarted; try again"};
    serial = ++last_serial_;
    request.set_serial(serial);
    if (auto sent = channel_.send(request.SerializeAsString()); !sent) return sent.error();
    requests_[serial];
  }
  return wait_for(serial);
}

Result<internal::FromKeeper> KeeperClient::wait_for(std::uint64_t serial) {
  std::unique_lock lock(mutex_);
  answered_.wait_for(lock, kPatience, [&] { return gone_ || requests_.at(serial).has_value(); });
  auto answer = std::move(requests_.extract(serial).mapped());
  if (!answer) {
    if (gone_) return Error{EPIPE, "sockhopd", "is being restarted; try again"};
    return Error{ETIMEDOUT, "sockhopd", "did not answer within 4 s"};
  }
  if (answer->has_failure()) {
    return Error{answer->failure().code(), "sockhopd", answer->failure().text()};
  }
  return std::move(*answer);
}

void KeeperClient::run() {
  while (sys::sleep_until_readable(channel_.socket())) {
    auto received = channel_.receive();
    if (!received && received.error().code == EAGAIN) continue;
    internal::FromKeeper message;
    if (!received || received->end || !message.ParseFromString(received->bytes)) break;
    take(std::move(message));
  }
  end();
}

void KeeperClient::take(internal::FromKeeper message) {
  const std::lock_guard lock(mutex_);
  const auto request = requests_.find(message.serial());
  if (request == requests_.end()) return;  // nobody waits any more
  request->second = std::move(message);
  answered_.notify_all();
}

void KeeperClient::end() {
  const std::lock_guard lock(mutex_);
  gone_ = true;
  answered_.notify_all();
}

}  // namespace sockhop::control
