// What an engine that is killed leaves of a connect: crash_stages.h.
#include "tests/kernel/crash_stages.h"

namespace sockhop::tests {
namespace {

int play_blocking(const Step& step) {
  const int fd = tcp_socket();
  step.begin();
  int result = connect_to(fd, kPort);
  if (result == 0 && (::fcntl(fd, F_GETFL) & O_NONBLOCK) != 0) result = 210;
  if (result == 0) result = talk(fd, step.number);
  ::close(fd);
  return result;
}

int wait_for_event(int set, std::uint32_t events, std::uint64_t data) {
  epoll_event event{};
  if (::epoll_wait(set, &event, 1, kPatience) != 1) return 220;
  if ((event.events & events) != events) return 221;
  return event.data.u64 == data ? 0 : 222;
}

int play_epoll(const Step& step) {
  const std::array<int, 2> sets{::epoll_create1(0), ::epoll_create1(0)};
  const int fd = tcp_socket(SOCK_NONBLOCK);
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLET;
  event.data.u64 = step.number + (1ULL << 40);
  for (const int set : sets) ::epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
  step.begin();
  int result = connect_to(fd, kPort);
  if (result == EINPROGRESS) result = 0;
  for (const int set : sets) {
    if (result == 0) result = wait_for_event(set, EPOLLOUT, event.data.u64);
  }
  if (result == 0) result = static_cast<int>(option_of(fd, SO_ERROR));
  if (result == 0) result = talk(fd, step.number);
  ::close(fd);
  for (const int set : sets) ::close(set);
  return result;
}

int play_duplicates(const Step& step) {
  const int fd = tcp_socket();
  const int twin = ::dup(fd);
  const int set = ::epoll_create1(0);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = step.number;
  ::epoll_ctl(set, EPOLL_CTL_ADD, twin, &event);
  step.begin();
  int result = connect_to(fd, kPort);
  if (result == 0 && option_of(fd, SO_COOKIE) != option_of(twin, SO_COOKIE)) result = 230;
  ::close(fd);
  if (result == 0) result = talk(twin, step.number);
  if (result == 0) result = wait_for_event(set, EPOLLIN, step.number);
  ::close(twin);
  ::close(set);
  return result;
}

/// Another process holds the socket: it stays, for both of them.
int play_shared(const Step& step) {
  const int fd = tcp_socket(SOCK_NONBLOCK);
  const int set = ::epoll_create1(0);
  epoll_event event{};
  event.events = EPOLLOUT | EPOLLONESHOT;
  ::epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
  const std::uint64_t before = option_of(fd, SO_COOKIE);
  const pid_t holder = ::fork();
  if (holder == 0) {
    ::pause();
    ::_exit(0);
  }
  step.begin();
  int result = connect_to(fd, kPort);
  if (result == EINPROGRESS) result = 0;
  if (result == 0 && option_of(fd, SO_COOKIE) != before) result = 240;
  if (result == 0 && ::epoll_ctl(set, EPOLL_CTL_MOD, fd, &event) != 0) result = 241;
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  ::close(fd);
  ::close(set);
  return result;
}

int play_refused(const Step& step) {
  const int fd = tcp_socket();
  const int twin = ::dup(fd);
  const int set = ::epoll_create1(0);
  epoll_event event{};
  event.events = EPOLLIN;
  ::epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
  step.begin();
  int result = connect_to(fd, kRefused);
  result = result == ECONNREFUSED ? 0 : result == 0 ? 250 : result;
  if (result == 0 && !is_of_own_namespace(fd)) result = 251;
  if (result == 0 && option_of(fd, SO_COOKIE) != option_of(twin, SO_COOKIE)) result = 252;
  if (result == 0 && ::epoll_ctl(set, EPOLL_CTL_MOD, fd, &event) != 0) result = 253;
  if (result == 0 && (::fcntl(fd, F_GETFL) & O_NONBLOCK) != 0) result = 254;
  ::close(fd);
  ::close(twin);
  ::close(set);
  return result;
}

/// The failure of a non-blocking connect is asked for by another connect; then a good one.
int play_anew(const Step& step) {
  const int fd = tcp_socket(SOCK_NONBLOCK);
  const int set = ::epoll_create1(0);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = step.number;
  ::epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
  int result = connect_to(fd, kRefused);
  if (result == EINPROGRESS) ready_for(fd, POLLOUT);
  step.begin();
  if (result == EINPROGRESS) result = connect_to(fd, kRefused);
  // EINPROGRESS: the errno died with an engine, and it is tried again.
  if (result == EINPROGRESS && ready_for(fd, POLLOUT)) result = connect_to(fd, kRefused);
  if (result != ECONNREFUSED) result += 1000;
  if (result == ECONNREFUSED) result = connect_to(fd, kPort);
  if (result == EINPROGRESS) result = ready_for(fd, POLLOUT) ? 0 : 260;
  if (result == 0) result = static_cast<int>(option_of(fd, SO_ERROR));
  if (result == 0) result = talk(fd, step.number);
  if (result == 0) result = wait_for_event(set, EPOLLIN, step.number);
  ::close(fd);
  ::close(set);
  return result;
}

int play_second_connect(const Step& step) {
  auto [fd, result] = connected_socket();
  step.begin();
  if (result == 0) result = connect_to(fd, kPort);
  // 0: the engine that was told died with it.
  if (result == EISCONN) result = 0;
  if (result == 0) result = talk(fd, step.number);
  ::close(fd);
  return result;
}

int play_disconnect(const Step& step) {
  auto [fd, result] = connected_socket();
  if (result == 0) result = talk(fd, step.number);
  sockaddr nobody{};
  nobody.sa_family = AF_UNSPEC;
  step.begin();
  if (result == 0 && ::connect(fd, &nobody, sizeof nobody) != 0) result = errno;
  if (result == 0) result = connect_to(fd, kPort);
  if (result == 0) result = talk(fd, step.number);
  ::close(fd);
  return result;
}

TEST(CrashStages, ABlockingConnect) { expect_taken_apart(play_blocking); }
TEST(CrashStages, AConnectInTwoEpollSets) { expect_taken_apart(play_epoll); }
TEST(CrashStages, AConnectOfADuplicate) { expect_taken_apart(play_duplicates); }
// Much later the tracer makes the search for the other holder take longer than its budget.
constexpr int kUntilTooSlow = 500;
TEST(CrashStages, ASharedSocketStays) {
  expect_taken_apart(play_shared, {.connections = 0, .limit = kUntilTooSlow});
}
TEST(CrashStages, ARefusedConnect) { expect_taken_apart(play_refused, {.connections = 0}); }
TEST(CrashStages, AnotherConnectAfterAFailure) { expect_taken_apart(play_anew); }
TEST(CrashStages, AConnectOfAConnectedSocket) {
  expect_taken_apart(play_second_connect, {.early = 1});
}
TEST(CrashStages, ADisconnect) {
  expect_taken_apart(play_disconnect, {.connections = 2, .early = 1});
}

}  // namespace
}  // namespace sockhop::tests
