#include "core/keep_awake.h"

#include <algorithm>

namespace sockhop::core {

bool KeepAwake::exchanged(std::int64_t now_ns) {
  const std::int64_t gap = now_ns - last_ns_;
  const bool burst = last_ns_ != 0 && gap < kBurstNs;
  last_ns_ = now_ns;
  if (!burst) {
    // The first of a burst says nothing: everything is cold.
    awake_ = false;
    return false;
  }
  (awake_ ? awake_mean_ : asleep_mean_).add(gap);
  const std::uint32_t at = count_++ % kPeriod;
  // A period begins without, then tries with, then does what was better.
  awake_ = at >= kTrial && (at < 2 * kTrial || pays());
  return awake_;
}

void KeepAwake::Mean::add(std::int64_t sample) {
  if (value == 0) value = sample;
  value += (std::min(sample, 2 * value) - value) / 4;
}

bool KeepAwake::pays() const { return awake_mean_.value * 5 < asleep_mean_.value * 4; }

}  // namespace sockhop::core
