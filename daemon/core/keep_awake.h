// Whether cores are to be kept from sleeping between the calls of a burst.
//
// A call costs two exchanges between the caller and its session, and each wakes a core. A sleeping
// core of a virtual machine takes 15 to 30 us to come back (HLT leaves the guest; guest halt
// polling, where it is on, hides that), a core that never slept 4 us. So in a burst of calls it
// pays to keep two cores busy with nothing, at the priority that gives way to everything
// (SCHED_IDLE), for as long as the burst lasts. Whether it pays here is measured, not assumed: by
// how fast the calls of the burst follow each other with and without. (The time of an exchange
// alone does not tell: where the scheduler puts both threads on one core it is short, and others
// are long.)
#pragma once

#include <cstdint>

namespace sockhop::core {

class KeepAwake {
 public:
  /// Calls that follow each other within this time are a burst.
  static constexpr std::int64_t kBurstNs = 300'000;
  /// Now and then the burst goes on without, to see what that costs by now.
  static constexpr std::uint32_t kPeriod = 2048;
  static constexpr std::uint32_t kTrial = 32;

  /// An exchange ended at `now_ns`. True: keep cores awake for kBurstNs from now.
  bool exchanged(std::int64_t now_ns);

 private:
  /// Exponential mean, on which a single long pause (another program ran) has little weight; 0
  /// when nothing was measured.
  struct Mean {
    std::int64_t value = 0;
    void add(std::int64_t sample);
  };

  [[nodiscard]] bool pays() const;

  std::int64_t last_ns_ = 0;
  bool awake_ = false;       // cores are awake until the exchange that comes next
  std::uint32_t count_ = 0;  // exchanges of bursts
  Mean asleep_mean_;
  Mean awake_mean_;
};

}  // namespace sockhop::core
