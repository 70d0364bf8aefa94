#include "engine/timed_notify.h"

#include <utility>

#include "sys/clock.h"

namespace sockhop::engine {
namespace {

class TimedNotifyFd final : public sys::NotifyFd {
 public:
  TimedNotifyFd(std::unique_ptr<sys::NotifyFd> inner, Pace& pace)
      : inner_(std::move(inner)), pace_(pace) {}

  Status receive(std::span<std::byte> room) override { return inner_->receive(room); }
  bool still_waiting(std::uint64_t id) override { return inner_->still_waiting(id); }
  Status answer(std::uint64_t id, std::int64_t value, int error) override {
    return inner_->answer(id, value, error);
  }
  Status let_run(std::uint64_t id) override { return inner_->let_run(id); }

  Result<int> install(std::uint64_t id, FdRef source, const int* target,
                      bool close_on_exec) override {
    auto number = inner_->install(id, source, target, close_on_exec);
    const std::int64_t now = sys::monotonic_ns();
    if (pace_.policy.exchanged(now)) pace_.cores.keep(now + core::KeepAwake::kBurstNs);
    return number;
  }

 private:
  std::unique_ptr<sys::NotifyFd> inner_;
  Pace& pace_;
};

}  // namespace

std::unique_ptr<sys::NotifyFd> time_exchanges(std::unique_ptr<sys::NotifyFd> inner, Pace& pace) {
  return std::make_unique<TimedNotifyFd>(std::move(inner), pace);
}

}  // namespace sockhop::engine
