// Times socket + connect + close: bench_connect --address A --port P [options].
//
//   --mode blocking|epoll   epoll: non-blocking, registered before connect, waits for EPOLLOUT
//   --ms N                  how long to measure
//   --fds N                 open descriptors the process holds meanwhile
//   --sets N --entries M    epoll sets it holds, each watching M of these descriptors
//
// Sockets close by a reset (SO_LINGER 0), so that no port waits in TIME_WAIT. A fast client outruns
// accept() on the other side; the overflowing queue then loses a SYN and one cycle takes a second.
// So after each kBatch cycles the client naps, untimed, until the server has caught up. Prints one
// JSON object: microseconds of a cycle (mean, median, 99th percentile), and the number of cycles.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <vector>

#include "args.h"
#include "base/unique_fd.h"
#include "clock.h"

using namespace sockhop::bench;
using sockhop::FdRef;
using sockhop::UniqueFd;

namespace {

constexpr long kBatch = 500;  // far below a backlog of 4096
constexpr timespec kNap{.tv_sec = 0, .tv_nsec = 5'000'000};

UniqueFd reset_on_close_socket(int flags) {
  UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!client) fail("socket");
  const linger abort_on_close{.l_onoff = 1, .l_linger = 0};
  setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &abort_on_close, sizeof abort_on_close);
  return client;
}

void blocking_cycle(const sockaddr_in& name) {
  const UniqueFd client = reset_on_close_socket(0);
  if (connect(client.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
    fail("connect");
}

void epoll_cycle(const sockaddr_in& name, FdRef set) {
  const UniqueFd client = reset_on_close_socket(SOCK_NONBLOCK);
  epoll_event interest{.events = EPOLLOUT, .data = {.u64 = 1}};
  if (epoll_ctl(set.get(), EPOLL_CTL_ADD, client.get(), &interest) != 0) fail("epoll_ctl");
  if (connect(client.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 &&
      errno != EINPROGRESS) {
    fail("connect");
  }
  epoll_event event{};
  // An arm that loses the registration must fail here, not hang the run.
  if (epoll_wait(set.get(), &event, 1, 2000) != 1) {
    std::fprintf(stderr, "no event of a socket registered before connect\n");
    std::exit(1);
  }
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(client.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) {
    errno = error;
    fail("connect");
  }
}

/// As many as asked for where the hard limit lets us, else up to that.
void allow_descriptors(rlim_t count) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= count) return;
  limit.rlim_cur = std::min(count, limit.rlim_max);
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) fail("setrlimit");
}

/// Descriptors on which nothing ever happens, and epoll sets that watch some of them.
std::vector<UniqueFd> crowd(long count, long sets, long entries) {
  allow_descriptors(static_cast<rlim_t>(count + sets + 64));
  std::vector<UniqueFd> held;
  for (long i = 0; i < count; ++i) {
    held.emplace_back(eventfd(0, EFD_CLOEXEC));
    if (!held.back()) fail("eventfd");
  }
  for (long s = 0; s < sets; ++s) {
    const FdRef set = held.emplace_back(epoll_create1(EPOLL_CLOEXEC));
    if (set.get() < 0) fail("epoll_create1");
    for (long e = 0; e < std::min(entries, count); ++e) {
      epoll_event interest{.events = EPOLLIN, .data = {.u64 = 0}};
      epoll_ctl(set.get(), EPOLL_CTL_ADD, held[static_cast<std::size_t>(e)].get(), &interest);
    }
  }
  return held;
}

template <class Cycle>
void time_batch(Cycle cycle, std::int64_t end, std::vector<std::int64_t>& times) {
  std::int64_t before = now_ns();
  for (long i = 0; i < kBatch && before < end; ++i) {
    cycle();
    const std::int64_t after = now_ns();
    times.push_back(after - before);
    before = after;
  }
}

void report(std::vector<std::int64_t>& times) {
  const auto count = static_cast<double>(times.size());
  const auto total = std::accumulate(times.begin(), times.end(), std::int64_t{0});
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  const double median = static_cast<double>(*middle);
  const auto late = times.begin() + static_cast<std::ptrdiff_t>(times.size() * 99 / 100);
  std::nth_element(times.begin(), late, times.end());
  std::printf("{\"mean_us\": %.3f, \"median_us\": %.3f, \"p99_us\": %.3f, \"cycles\": %zu}\n",
              static_cast<double>(total) / count / 1e3, median / 1e3,
              static_cast<double>(*late) / 1e3, times.size());
}

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const sockaddr_in name =
      ipv4_name(args.text("--address", "127.0.0.1"), args.number("--port", 7000));
  const bool by_epoll = args.text("--mode", "blocking") == "epoll";
  const UniqueFd set(by_epoll ? epoll_create1(EPOLL_CLOEXEC) : -1);
  const std::vector<UniqueFd> others =
      crowd(args.number("--fds", 0), args.number("--sets", 0), args.number("--entries", 0));
  const auto cycle = [&] { by_epoll ? epoll_cycle(name, set) : blocking_cycle(name); };

  for (int i = 0; i < 20; ++i) cycle();
  std::vector<std::int64_t> times;
  times.reserve(1 << 18);
  const std::int64_t end = now_ns() + args.number("--ms", 1000) * 1'000'000;
  while (now_ns() < end) {
    time_batch(cycle, end, times);
    nanosleep(&kNap, nullptr);
  }
  report(times);
}
