// The two clocks that a budget of CPU time needs.
#pragma once

#include <chrono>

namespace sockhop::sys {

class CpuClock {
 public:
  virtual ~CpuClock() = default;
  /// CLOCK_MONOTONIC_COARSE: cheap, good to a few milliseconds.
  [[nodiscard]] virtual std::chrono::nanoseconds now() const = 0;
  /// CLOCK_THREAD_CPUTIME_ID of the calling thread.
  [[nodiscard]] virtual std::chrono::nanoseconds thread_cpu() const = 0;
};

class SystemCpuClock final : public CpuClock {
 public:
  [[nodiscard]] std::chrono::nanoseconds now() const override;
  [[nodiscard]] std::chrono::nanoseconds thread_cpu() const override;
};

}  // namespace sockhop::sys
