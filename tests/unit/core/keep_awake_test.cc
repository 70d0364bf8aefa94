#include "core/keep_awake.h"

#include <gtest/gtest.h>

namespace sockhop::core {
namespace {

constexpr std::int64_t kSlow = 30'000;
constexpr std::int64_t kFast = 4'000;

/// A caller that calls every 50 us, on a machine whose exchange takes `asleep` when cores sleep and
/// `awake` when they were kept from it. Answers in how many of `calls` they were.
class Machine {
 public:
  Machine(std::int64_t asleep, std::int64_t awake) : asleep_(asleep), awake_(awake) {}

  int run(int calls, std::int64_t pause = 50'000) {
    int kept = 0;
    for (int i = 0; i < calls; ++i) {
      now_ += pause;
      kept_ = policy_.exchanged(now_, held_up_ + (kept_ ? awake_ : asleep_));
      held_up_ = 0;
      kept += kept_ ? 1 : 0;
    }
    return kept;
  }

  /// The next exchange takes so much longer.
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
  Machine machine(kSlow, kFast);
  EXPECT_EQ(machine.run(1000, KeepAwake::kBurstNs), 0);
}

TEST(KeepAwake, FastExchangesNeedNoHelp) {
  Machine machine(KeepAwake::kFastNs, KeepAwake::kFastNs);
  EXPECT_EQ(machine.run(10'000), 0);
}

TEST(KeepAwake, WhereItDoesNotHelpItIsTriedAndLeft) {
  Machine machine(kSlow, kSlow - 5'000);
  const int periods = 4;
  EXPECT_LE(machine.run(periods * KeepAwake::kPeriod), periods * KeepAwake::kTrial + 1);
}

TEST(KeepAwake, OneLongExchangeChangesNothing) {
  Machine machine(kSlow, kFast);
  machine.run(4 * KeepAwake::kTrial);
  machine.hold_up(500'000);
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
