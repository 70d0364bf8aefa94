// An engine killed at each system call that it makes while a connection comes in and is accepted:
// the connection must reach the server, once, and its client must be answered.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>

#include "tests/support/engine_tracer.h"
#include "tests/support/inject_lab.h"

namespace sockhop::tests {
namespace {

using Board = InjectLab::Board;
enum Count { wanted, done, outcome };

int listener_of(int flags) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | flags, 0);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = htons(80);
  ::bind(fd, reinterpret_cast<const sockaddr*>(&any), sizeof any);
  return ::listen(fd, 16) == 0 ? fd : -1;
}

/// Repeats what it hears until the client's end.
int serve_one(int listener, int set) {
  int fd = -1;
  while ((fd = ::accept(listener, nullptr, nullptr)) < 0) {
    if (set < 0 || errno != EAGAIN) return errno;
    epoll_event event{};
    int events = 0;
    while ((events = ::epoll_wait(set, &event, 1, 10'000)) < 0 && errno == EINTR) continue;
    if (events != 1) return ETIMEDOUT;
  }
  char text[64];
  ssize_t size = 0;
  while ((size = ::recv(fd, text, sizeof text, 0)) > 0) (void)!::send(fd, text, size, MSG_NOSIGNAL);
  ::close(fd);
  return size < 0 ? errno : 0;
}

int serve_all(Board& board, bool blocking) {
  const int listener = listener_of(blocking ? 0 : SOCK_NONBLOCK);
  const int set = blocking ? -1 : ::epoll_create1(0);
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  if (!blocking) ::epoll_ctl(set, EPOLL_CTL_ADD, listener, &event);
  for (std::uint64_t number = 1;; ++number) {
    board.ready = static_cast<int>(number);
    while (board.counts[wanted] < number && board.stop == 0) ::usleep(100);
    if (board.stop != 0) return 0;
    board.counts[outcome] = static_cast<std::uint64_t>(serve_one(listener, set));
    board.counts[done] = number;
  }
}

void expect_served(bool blocking) {
  InjectLab lab({"8080:80"}, [blocking](Board& board) { return serve_all(board, blocking); });
  Board& board = lab.board();
  int stops = 0;
  for (bool killed = true; killed; ++stops) {
    const auto number = static_cast<std::uint64_t>(stops) + 1;
    ASSERT_TRUE(eventually([&] { return board.ready >= static_cast<int>(number); }));
    const int old = board.engine;
    const std::string text = "connection " + std::to_string(number);
    std::string answer;
    std::thread client;
    EngineTracer tracer(old);
    board.counts[wanted] = number;
    client =
        std::thread([&] { lab.machine().run([&] { answer = ask(kHostAddress, 8080, text); }); });
    killed = tracer.kill_at(stops + 1, [&] { return board.counts[done] >= number; });
    client.join();
    EXPECT_EQ(answer, text) << "after a kill at stop " << stops + 1 << " in system call "
                            << tracer.last_call();
    ASSERT_TRUE(eventually([&] { return board.counts[done] >= number; }));
    EXPECT_EQ(board.counts[outcome], 0U);
    if (killed) (void)eventually([&] { return board.engine != old; });
  }
  EXPECT_GT(stops, 40) << "the engine made hardly a system call: nothing was tested";
  board.stop = 1;
}

TEST(CrashStages, ABlockingAccept) { expect_served(true); }
TEST(CrashStages, AnAcceptAfterEpoll) { expect_served(false); }

}  // namespace
}  // namespace sockhop::tests
