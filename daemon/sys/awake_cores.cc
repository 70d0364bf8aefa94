#include "sys/awake_cores.h"

#include <pthread.h>
#include <sched.h>

#include <system_error>

#include "sys/clock.h"

namespace sockhop::sys {
namespace {

// Between two looks at the clock.
constexpr int kPauses = 16;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// Where a core is not ours to use (cpuset) the thread spins wherever it is put.
void move_to(int core) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(core, &only);
  (void)::sched_setaffinity(0, sizeof only, &only);
}

}  // namespace

AwakeCores::~AwakeCores() {
  stop_ = true;
  ++calls_;
  calls_.notify_all();
  for (auto& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void AwakeCores::start() {
  started_ = true;
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) < 0 || CPU_COUNT(&allowed) < 2) return;
  // Until this thread is seen on another one, the caller is supposed on the next.
  const int here = ::sched_getcpu();
  int other = here;
  do {
    other = (other + 1) % CPU_SETSIZE;
  } while (!CPU_ISSET(other, &allowed));
  cores_[0] = here;
  cores_[1] = other;
  for (std::size_t i = 0; i < kThreads; ++i) {
    try {
      threads_[i] = std::thread([this, i] { spin(i); });
    } catch (const std::system_error&) {  // no thread to be had: then cores sleep
      return;
    }
  }
}

void AwakeCores::note_core() {
  const int core = ::sched_getcpu();
  for (const auto& known : cores_) {
    if (known.load(std::memory_order_relaxed) == core) return;
  }
  cores_[oldest_].store(core, std::memory_order_relaxed);
  oldest_ = (oldest_ + 1) % kThreads;
}

void AwakeCores::keep(std::int64_t until_ns) {
  if (!started_) start();
  note_core();
  const bool asleep = until_.load() < monotonic_ns();
  until_ = until_ns;
  if (!asleep) return;
  ++calls_;
  calls_.notify_all();
}

void AwakeCores::spin(std::size_t index) {
  const sched_param none{};
  // Any thread may lower itself (sched(7)); without it this one would be in the way.
  if (::sched_setscheduler(0, SCHED_IDLE, &none) < 0) return;
  int core = -1;
  while (!stop_) {
    const std::uint32_t seen = calls_;
    if (until_ <= monotonic_ns()) {
      calls_.wait(seen);
      continue;
    }
    const int wanted = cores_[index].load(std::memory_order_relaxed);
    if (wanted != core) move_to(core = wanted);
    for (int i = 0; i < kPauses; ++i) relax();
  }
}

}  // namespace sockhop::sys
