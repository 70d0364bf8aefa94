// Times calls that no filter of ours should slow down: bench_calls [--ms N].
//
// Each call has N / 6 milliseconds. Prints one JSON object, nanoseconds per call by name.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "args.h"
#include "clock.h"

using namespace sockhop::bench;

namespace {

constexpr std::size_t kBatch = 200;
using Batch = std::array<int, kBatch>;

struct Total {
  std::int64_t ns = 0;
  std::int64_t calls = 0;
};

/// Runs batches of `timed` for the duration; what prepares and clears a batch is not timed.
template <class Before, class Timed, class After>
double measure(std::int64_t duration_ns, Before before, Timed timed, After after) {
  Total total;
  const std::int64_t end = now_ns() + duration_ns;
  while (now_ns() < end) {
    before();
    const std::int64_t start = now_ns();
    for (std::size_t i = 0; i < kBatch; ++i) timed(i);
    total.ns += now_ns() - start;
    total.calls += kBatch;
    after();
  }
  return static_cast<double>(total.ns) / static_cast<double>(total.calls);
}

double measure_forks(std::int64_t duration_ns) {
  Total total;
  const std::int64_t start = now_ns();
  while (total.ns < duration_ns) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    if (child < 0) fail("fork");
    waitpid(child, nullptr, 0);
    ++total.calls;
    total.ns = now_ns() - start;
  }
  return static_cast<double>(total.ns) / static_cast<double>(total.calls);
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t share = Args(argc, argv).number("--ms", 600) * 1'000'000 / 6;
  const int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (tcp < 0) fail("socket");
  Batch fds{};
  const auto nothing = [] {};
  const auto duplicate = [&](std::size_t i) { fds[i] = dup(tcp); };
  const auto shut = [&](std::size_t i) { close(fds[i]); };
  const auto duplicate_all = [&] {
    for (std::size_t i = 0; i < kBatch; ++i) duplicate(i);
  };
  const auto shut_all = [&] {
    for (std::size_t i = 0; i < kBatch; ++i) shut(i);
  };

  const double close_ns = measure(share, duplicate_all, shut, nothing);
  const double fcntl_ns = measure(
      share, nothing, [&](std::size_t) { fcntl(tcp, F_GETFL); }, nothing);
  const double setsockopt_ns = measure(
      share, nothing,
      [&](std::size_t i) {
        const int on = static_cast<int>(i & 1);
        setsockopt(tcp, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
      },
      nothing);
  const double dup_ns = measure(share, nothing, duplicate, shut_all);
  const double open_ns = measure(
      share, nothing, [&](std::size_t i) { fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC); },
      shut_all);
  const double fork_ns = measure_forks(share);
  std::printf(
      "{\"close\": %.2f, \"fcntl\": %.2f, \"setsockopt\": %.2f, \"dup\": %.2f, \"open\": %.2f, "
      "\"fork_exit\": %.2f}\n",
      close_ns, fcntl_ns, setsockopt_ns, dup_ns, open_ns, fork_ns);
}
