// A container with more blocked calls than its engine can hold.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "tests/support/inject_lab.h"

namespace sockhop::tests {
namespace {

using Board = InjectLab::Board;
enum Count { begun };
// In the container's process: its threads are many, and each gets one pointer only.
int the_listener = -1;

sockaddr_in server_name(in_addr_t address) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(80);
  name.sin_addr.s_addr = htonl(address);
  return name;
}

/// Says back what each client says.
void* serve_clients(void* board) {
  ++static_cast<Board*>(board)->counts[begun];
  for (;;) {
    const int fd = ::accept(the_listener, nullptr, nullptr);
    if (fd < 0) continue;
    char part[64];
    ssize_t size = 0;
    while ((size = ::recv(fd, part, sizeof part, 0)) > 0)
      (void)!::send(fd, part, static_cast<std::size_t>(size), MSG_NOSIGNAL);
    ::close(fd);
  }
}

int serve_with(Board& board, int threads) {
  the_listener = ::socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in any = server_name(INADDR_ANY);
  ::bind(the_listener, reinterpret_cast<const sockaddr*>(&any), sizeof any);
  if (::listen(the_listener, 64) < 0) return 1;
  pthread_attr_t small;
  ::pthread_attr_init(&small);
  ::pthread_attr_setstacksize(&small, 64 << 10);
  for (int i = 0; i < threads; ++i) {
    pthread_t thread;
    if (::pthread_create(&thread, &small, serve_clients, &board) != 0) return 2;
  }
  while (board.stop == 0) ::usleep(1000);
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in inside = server_name(INADDR_LOOPBACK);
  const int done = ::connect(fd, reinterpret_cast<const sockaddr*>(&inside), sizeof inside);
  board.ready = done == 0 ? 1 : 2;
  return ::pause();
}

TEST(Inject, ThreadsThatBlockInAcceptLeaveRoomForConnects) {
  constexpr int kThreads = static_cast<int>(sys::kMaxSlots) + 16;
  InjectLab lab({"7777:80"}, [](Board& board) { return serve_with(board, kThreads); });
  const auto blocked = [&] {
    const auto& slots = lab.memory().slots;
    return static_cast<std::size_t>(std::count_if(slots.begin(), slots.end(), [](const auto& slot) {
      return slot.stage == sys::CallStage::accepting;
    }));
  };
  ASSERT_TRUE(eventually([&] { return lab.board().counts[begun] == kThreads; }));
  ASSERT_TRUE(eventually([&] { return lab.memory().calls >= kThreads + 1; }))
      << "some of them are not even received";
  EXPECT_LT(blocked(), sys::kMaxSlots - 100);
  EXPECT_GT(blocked(), sys::kMaxSlots - 200) << "blocked calls are served by the engine";
  lab.board().stop = 1;
  ASSERT_TRUE(eventually([&] { return lab.board().ready != 0; })) << "connect hangs";
  EXPECT_EQ(lab.board().ready, 1);
  std::string answer;
  lab.machine().run([&] { answer = ask(kHostAddress, 7777); });
  EXPECT_EQ(answer, "hello");
}

}  // namespace
}  // namespace sockhop::tests
