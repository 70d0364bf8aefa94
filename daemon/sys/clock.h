// The clock of deadlines.
#pragma once

#include <cstdint>
#include <ctime>

namespace sockhop::sys {

/// CLOCK_MONOTONIC in nanoseconds.
inline std::int64_t monotonic_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);  // cannot fail for a clock that exists
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

}  // namespace sockhop::sys
