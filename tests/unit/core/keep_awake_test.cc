#include "core/keep_awake.h"

#include <gtest/gtest.h>

namespace sockhop::core {
namespace {

constexpr std::int64_t kSlow = 110'000;
constexpr std::int64_t kFast = 60'000;

/// A caller that calls again at once, on a machine where a call takes `asleep` when cores sleep and
/// `awake` when they are kept from it. Answers in how many of `calls` they were.
class Machine {
 public:
  Machine(std::int64_t asleep, std::int64_t awake) : asleep_(asleep), awake_(awake) {}

  int run(int calls) {
    int kept = 0;
    for (int i = 0; i < calls; ++i) {
      now_ += held_up_ + (kept_ ? awake_ : asleep_);
      held_up_ = 0;
      kept_ = policy_.exchanged(now_);
      kept += kept_ ? 1 : 0;
    }
    return kept;
  }

  /// The next call takes so much longer.
  void hold_up(std::int64_t by) { held_up_ = by; }

 private:
  KeepAwake policy_;
  std::int64_t asleep_;
  std::int64_t awake_;
  std::int64_t now_ = 1'000'000;
  std::int64_t held_up_ = 0;
  bool kept_ = false;
};

TEST(KeepAwake, ABurstOnAMachineWhoseCoresSleepKeepsThemAwake) {
  Machine machine(kSlow, kFast);
  EXPECT_EQ(machine.run(KeepAwake::kTrial + 1), 0) << "measures without first";
  EXPECT_EQ(machine.run(1000), 1000);
}

TEST(KeepAwake, CallsFarApartAreNoBurst) {
  Machine machine(KeepAwake::kBurstNs, KeepAwake::kBurstNs);
  EXPECT_EQ(machine.run(1000), 0);
}

TEST(KeepAwake, WhereItDoesNotHelpItIsTriedAndLeft) {
  Machine machine(kSlow, kSlow - 15'000);
  const int periods = 4;
  EXPECT_LE(machine.run(periods * KeepAwake::kPeriod), periods * KeepAwake::kTrial + 1);
}

TEST(KeepAwake, OneLongPauseChangesNothing) {
  Machine machine(kSlow, kFast);
  machine.run(4 * KeepAwake::kTrial);
  machine.hold_up(150'000);
  EXPECT_EQ(machine.run(100), 100);
}

TEST(KeepAwake, ItIsAskedAgainWhetherItStillPays) {
  Machine machine(kSlow, kFast);
  const int kept = machine.run(4 * KeepAwake::kPeriod);
  EXPECT_LT(kept, 4 * static_cast<int>(KeepAwake::kPeriod - KeepAwake::kTrial) + 1);
  EXPECT_GT(kept, 4 * static_cast<int>(KeepAwake::kPeriod - 2 * KeepAwake::kTrial));
}

}  // namespace
}  // namespace sockhop::core
