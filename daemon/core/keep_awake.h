// Whether cores are to be kept from sleeping between the calls of a burst.
//
// A call costs two exchanges between the caller and its session, and each wakes a core. A sleeping
// core of a virtual machine takes 15 to 30 us to come back (HLT leaves the guest; guest halt
// polling, where it is on, hides that), a core that never slept 4 us. So in a burst of calls it
// pays to keep two cores busy with nothing, at the priority that gives way to everything
// (SCHED_IDLE), for as long as the burst lasts. Whether it pays here is measured, not assumed: the
// exchange of a descriptor is timed with and without.
#pragma once

#include <cstdint>

namespace sockhop::core {

class KeepAwake {
 public:
  /// Calls that follow each other within this time are a burst.
  static constexpr std::int64_t kBurstNs = 300'000;
  /// Exchanges as fast as this need no help.
  static constexpr std::int64_t kFastNs = 12'000;
  /// Now and then the burst goes on without, to see what that costs by now.
  static constexpr std::uint32_t kPeriod = 2048;
  static constexpr std::uint32_t kTrial = 16;

  /// An exchange ended at `now_ns` and took `took_ns`. True: keep cores awake for kBurstNs from
  /// now.
  bool exchanged(std::int64_t now_ns, std::int64_t took_ns);

 private:
  /// Exponential mean, on which a single long exchange (another program ran) has little weight; 0
  /// when nothing was measured.
  struct Mean {
    std::int64_t value = 0;
    void add(std::int64_t sample);
  };

  [[nodiscard]] bool pays() const;

  std::int64_t last_ns_ = 0;
  bool awake_ = false;       // cores were awake during the exchange that comes next
  std::uint32_t count_ = 0;  // exchanges of bursts
  Mean asleep_mean_;
  Mean awake_mean_;
};

}  // namespace sockhop::core
