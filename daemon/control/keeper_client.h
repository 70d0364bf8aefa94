// Control's end of the channel to the keeper.
//
// One thread receives (run()); any number of gRPC threads ask and wait for their answers.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "base/result.h"
#include "control.pb.h"
#include "sys/message_channel.h"

namespace sockhop::control {

/// What services need of the keeper.
class Keeper {
 public:
  virtual ~Keeper() = default;
  /// The keeper's answer; its failures are errors with their errno. EPIPE when it is gone,
  /// ETIMEDOUT when it does not answer.
  virtual Result<internal::FromKeeper> ask(internal::ToKeeper request) = 0;
};

class KeeperClient : public Keeper {
 public:
  explicit KeeperClient(sys::MessageChannel channel) : channel_(std::move(channel)) {}

  Result<internal::FromKeeper> ask(internal::ToKeeper request) override;

  /// Receives until the keeper is gone, or a signal sets out to end the program.
  void run();

 private:
  Result<internal::FromKeeper> wait_for(std::uint64_t serial);
  void take(internal::FromKeeper message);
  void end();

  sys::MessageChannel channel_;
  std::mutex mutex_;  // guards what follows, and sending
  std::condition_variable answered_;
  std::map<std::uint64_t, std::optional<internal::FromKeeper>> requests_;
  std::uint64_t last_serial_ = 0;
  bool gone_ = false;
};

}  // namespace sockhop::control
