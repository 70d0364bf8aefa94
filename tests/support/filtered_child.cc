#include "tests/support/filtered_child.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <memory>
#include <new>

#include "base/unique_fd.h"

namespace sockhop::test {
namespace {

constexpr std::size_t kMaxAttempts = 1024;

/// Memory of both: the child's libc must not be needed once the filter is in.
struct Shared {
  std::atomic<int> listener{-1};
  std::array<long, kMaxAttempts> results{};
  std::atomic<std::size_t> done{0};
};

struct Unmap {
  void operator()(Shared* shared) const { munmap(shared, sizeof(Shared)); }
};

long call_64(long number, const std::array<std::uint64_t, 6>& a) {
  long result = number;
  register std::uint64_t r10 asm("r10") = a[3];
  register std::uint64_t r8 asm("r8") = a[4];
  register std::uint64_t r9 asm("r9") = a[5];
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

/// The sixth argument would need ebp, and no call tested here has one.
long call_i386(long number, const std::array<std::uint64_t, 6>& a) {
  long result = number;
  asm volatile("int $0x80"
               : "+a"(result)
               : "b"(a[0]), "c"(a[1]), "d"(a[2]), "S"(a[3]), "D"(a[4])
               : "r8", "r9", "r10", "r11", "memory");
  return static_cast<int>(result);
}

long make_call(const Attempt& attempt) {
  constexpr long kX32Bit = 0x40000000;
  switch (attempt.abi) {
    case Abi::x86_64:
      return call_64(attempt.number, attempt.arguments);
    case Abi::x32:
      return call_64(attempt.number | kX32Bit, attempt.arguments);
    case Abi::i386:
      return call_i386(attempt.number, attempt.arguments);
  }
  return 0;
}

/// The child. It shares the descriptors of the parent, so the listener's number is valid there.
[[noreturn]] void be_child(const std::vector<sock_filter>& filter,
                           const std::vector<Attempt>& attempts, Shared& shared) {
  const sock_fprog program{static_cast<unsigned short>(filter.size()),
                           const_cast<sock_filter*>(filter.data())};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const long listener =
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  if (listener >= 0) {
    shared.listener = static_cast<int>(listener);
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      shared.results[i] = make_call(attempts[i]);
      shared.done = i + 1;
    }
  }
  call_64(SYS_exit_group, {listener >= 0 ? 0u : 1u});
  __builtin_unreachable();
}

void answer_one(const UniqueFd& listener) {
  seccomp_notif call{};
  if (ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return;
  seccomp_notif_resp answer{call.id, kNotified, 0, 0};
  ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/// Until the child has ended: its last filter going away shows as POLLHUP.
void serve(const UniqueFd& listener) {
  for (;;) {
    pollfd ready{listener.get(), POLLIN, 0};
    if (poll(&ready, 1, -1) < 0 && errno == EINTR) continue;
    if ((ready.revents & POLLIN) == 0) return;
    answer_one(listener);
  }
}

}  // namespace

std::vector<long> run_filtered(const std::vector<sock_filter>& filter,
                               const std::vector<Attempt>& attempts) {
  if (attempts.size() > kMaxAttempts) return {};
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {};
  const std::unique_ptr<Shared, Unmap> shared(new (memory) Shared);

  const long child = call_64(SYS_clone, {CLONE_FILES | SIGCHLD});
  if (child == 0) be_child(filter, attempts, *shared);
  if (child < 0) return {};
  int status = 0;
  while (shared->listener < 0) {
    if (waitpid(static_cast<pid_t>(child), &status, WNOHANG) != 0) return {};
    sched_yield();
  }
  const UniqueFd listener(shared->listener);
  serve(listener);
  waitpid(static_cast<pid_t>(child), &status, 0);
  if (shared->done != attempts.size()) return {};
  return {shared->results.begin(), shared->results.begin() + static_cast<long>(attempts.size())};
}

}  // namespace sockhop::test
