// Time as the measuring programs take it: nanoseconds of CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <ctime>

namespace sockhop::bench {

inline std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace sockhop::bench
