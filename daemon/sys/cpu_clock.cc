#include "sys/cpu_clock.h"

#include <ctime>

namespace sockhop::sys {
namespace {

std::chrono::nanoseconds read_clock(clockid_t clock) {
  timespec value{};
  ::clock_gettime(clock, &value);  // cannot fail for a clock that exists
  return std::chrono::seconds(value.tv_sec) + std::chrono::nanoseconds(value.tv_nsec);
}

}  // namespace

std::chrono::nanoseconds SystemCpuClock::now() const { return read_clock(CLOCK_MONOTONIC_COARSE); }
std::chrono::nanoseconds SystemCpuClock::thread_cpu() const {
  return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

}  // namespace sockhop::sys
