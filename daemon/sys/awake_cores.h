// Keeps the cores that this thread runs on from going to sleep for a while.
//
// Two threads of policy SCHED_IDLE (sched(7)) spin there: they run where nothing else wants to, the
// scheduler counts such a core as idle, and a thread that is woken on it runs at once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

namespace sockhop::sys {

class AwakeCores {
 public:
  AwakeCores() = default;
  ~AwakeCores();
  AwakeCores(const AwakeCores&) = delete;
  AwakeCores& operator=(const AwakeCores&) = delete;

  /// The two cores that this thread was seen on last stay awake until `until_ns` (monotonic). The
  /// threads are made at the first call. Nothing on a machine with one core.
  void keep(std::int64_t until_ns);

 private:
  static constexpr std::size_t kThreads = 2;

  void start();
  void note_core();
  void spin(std::size_t index);

  std::array<std::thread, kThreads> threads_;
  std::array<std::atomic<int>, kThreads> cores_{};  // where each belongs
  std::size_t oldest_ = 0;                          // of cores_
  std::atomic<std::int64_t> until_{0};
  std::atomic<std::uint32_t> calls_{0};  // threads without work wait for it to change
  std::atomic<bool> stop_{false};
  bool started_ = false;
};

}  // namespace sockhop::sys
