// Times socket + connect + close: bench_connect --address A --port P [options].
//
//   --mode blocking|epoll   epoll: non-blocking, registered before connect, waits for EPOLLOUT
//   --ms N                  how long to measure
//   --fds N                 open descriptors the process holds meanwhile
//   --sets N --entries M    epoll sets it holds, each watching M of these descriptors
//
// Sockets close by a reset (SO_LINGER 0), so that no port waits in TIME_WAIT. Prints one JSON
// object: microseconds of a cycle (mean and median), and the number of cycles.
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
#include "clock.h"

using namespace sockhop::bench;

namespace {

constexpr long kBatch = 500;  // far below a backlog of 4096
constexpr timespec kNap{.tv_sec = 0, .tv_nsec = 5'000'000};

int reset_on_close_socket(int flags) {
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
  if (client < 0) fail("socket");
  const linger abort_on_close{.l_onoff = 1, .l_linger = 0};
  setsockopt(client, SOL_SOCKET, SO_LINGER, &abort_on_close, sizeof abort_on_close);
  return client;
}

void blocking_cycle(const sockaddr_in& name) {
  const int client = reset_on_close_socket(0);
  if (connect(client, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) fail("connect");
  close(client);
}

void epoll_cycle(const sockaddr_in& name, int set) {
  const int client = reset_on_close_socket(SOCK_NONBLOCK);
  epoll_event interest{.events = EPOLLOUT, .data = {.u64 = 1}};
  if (epoll_ctl(set, EPOLL_CTL_ADD, client, &interest) != 0) fail("epoll_ctl");
  if (connect(client, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 &&
      errno != EINPROGRESS) {
    fail("connect");
  }
  epoll_event event{};
  // An arm that loses the registration must fail here, not hang the run.
  if (epoll_wait(set, &event, 1, 2000) != 1) {
    std::fprintf(stderr, "no event of a socket registered before connect\n");
    std::exit(1);
  }
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(client, SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) {
    errno = error;
    fail("connect");
  }
  close(client);
}

/// Fills the process with descriptors that nothing ever happens on; they live as long as it does.
void crowd(long count, long sets, long entries) {
  const rlimit limit{.rlim_cur = static_cast<rlim_t>(count + sets + 64),
                     .rlim_max = static_cast<rlim_t>(count + sets + 64)};
  rlimit current{};
  getrlimit(RLIMIT_NOFILE, &current);
  if (current.rlim_cur < limit.rlim_cur && setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    const rlimit soft{.rlim_cur = current.rlim_max, .rlim_max = current.rlim_max};
    setrlimit(RLIMIT_NOFILE, &soft);
  }
  std::vector<int> held;
  for (long i = 0; i < count; ++i) {
    held.push_back(eventfd(0, EFD_CLOEXEC));
    if (held.back() < 0) fail("eventfd");
  }
  for (long s = 0; s < sets; ++s) {
    const int set = epoll_create1(EPOLL_CLOEXEC);
    if (set < 0) fail("epoll_create1");
    for (long e = 0; e < std::min(entries, count); ++e) {
      epoll_event interest{.events = EPOLLIN, .data = {.u64 = 0}};
      epoll_ctl(set, EPOLL_CTL_ADD, held[static_cast<std::size_t>(e)], &interest);
    }
  }
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
  std::printf("{\"mean_us\": %.3f, \"median_us\": %.3f, \"cycles\": %zu}\n",
              static_cast<double>(total) / count / 1e3, static_cast<double>(*middle) / 1e3,
              times.size());
}

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const sockaddr_in name =
      ipv4_name(args.text("--address", "127.0.0.1"), args.number("--port", 7000));
  const bool by_epoll = args.text("--mode", "blocking") == "epoll";
  const int set = by_epoll ? epoll_create1(EPOLL_CLOEXEC) : -1;
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
