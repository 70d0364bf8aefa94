// Published ports with a real notify fd: what a server in the container and its clients see.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/inject_lab.h"

namespace sockhop::tests {
namespace {

constexpr int kServerPort = 80;
using Board = InjectLab::Board;

int listen_at(int family, int type_flags, int port = kServerPort) {
  const int fd = ::socket(family, SOCK_STREAM | type_flags, 0);
  sockaddr_in6 any{};
  any.sin6_family = static_cast<sa_family_t>(family);
  any.sin6_port = htons(static_cast<std::uint16_t>(port));
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd, reinterpret_cast<sockaddr*>(&any),
             family == AF_INET ? sizeof(sockaddr_in) : sizeof any) < 0 ||
      ::listen(fd, 64) < 0) {
    ::_exit(90);
  }
  return fd;
}

std::string name_text(const sockaddr_storage& name) {
  char text[INET6_ADDRSTRLEN] = "?";
  if (name.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(name);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return text;
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(name);
  ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
  return text;
}

/// Answers with what accept and the socket say of the peer and the own name, after the end.
void answer(int fd, const sockaddr_storage& peer) {
  std::string got;
  char part[4096];
  for (;;) {
    const ssize_t size = ::recv(fd, part, sizeof part, 0);
    if (size <= 0) break;
    got.append(part, static_cast<std::size_t>(size));
  }
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size);
  const int port = ntohs(reinterpret_cast<const sockaddr_in&>(own).sin_port);
  const std::string text =
      got + " " + name_text(peer) + " " + name_text(own) + ":" + std::to_string(port);
  (void)!::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
  ::close(fd);
}

int accept_one(int listener, sockaddr_storage& peer) {
  socklen_t size = sizeof peer;
  return ::accept4(listener, reinterpret_cast<sockaddr*>(&peer), &size, SOCK_CLOEXEC);
}

int serve_blocking(Board& board, int family) {
  const int listener = listen_at(family, 0);
  board.ready = 1;
  for (;;) {
    sockaddr_storage peer{};
    const int fd = accept_one(listener, peer);
    if (fd < 0) return 91;
    ++board.counts[0];
    answer(fd, peer);
  }
}

int serve_epoll(Board& board, std::uint32_t mode, bool drain) {
  const int listener = listen_at(AF_INET, SOCK_NONBLOCK);
  const int set = ::epoll_create1(0);
  epoll_event event{EPOLLIN | mode, {}};
  ::epoll_ctl(set, EPOLL_CTL_ADD, listener, &event);
  board.ready = 1;
  for (;;) {
    if (::epoll_wait(set, &event, 1, -1) < 0) return 92;
    ++board.counts[1];
    for (;;) {
      sockaddr_storage peer{};
      const int fd = accept_one(listener, peer);
      if (fd < 0 && errno == EAGAIN) break;
      if (fd < 0) return 93;
      ++board.counts[0];
      answer(fd, peer);
      if (!drain) break;
    }
  }
}

std::string ask_from(const NetworkNamespace& place, const std::string& address, int port,
                     const std::string& text = "hello") {
  std::string answer;
  place.run([&] { answer = ask(address, port, text); });
  return answer;
}

TEST(Inject, AClientOfAnotherMachineIsSeenByABlockingServer) {
  InjectLab lab({"7777:80"}, [](Board& board) { return serve_blocking(board, AF_INET); });
  ASSERT_TRUE(lab.wait_ready());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ask_from(lab.machine(), kHostAddress, 7777), "hello 198.51.100.2 10.0.2.100:80");
  }
  EXPECT_EQ(lab.memory().ports[0].injected, 3U);
}

TEST(Inject, ALevelTriggeredLoopIsWokenByTheBell) {
  InjectLab lab({"7777:80"}, [](Board& board) { return serve_epoll(board, 0, true); });
  ASSERT_TRUE(lab.wait_ready());
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(ask_from(lab.machine(), kHostAddress, 7777), "hello 198.51.100.2 10.0.2.100:80");
  }
}

TEST(Inject, AnEdgeTriggeredLoopGetsAnEdgePerConnection) {
  InjectLab lab({"7777:80"}, [](Board& board) { return serve_epoll(board, EPOLLET, false); });
  ASSERT_TRUE(lab.wait_ready());
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(ask_from(lab.machine(), kHostAddress, 7777), "hello 198.51.100.2 10.0.2.100:80");
  }
}

TEST(Inject, ALoopSleepsWhenNothingWaits) {
  InjectLab lab({"7777:80"}, [](Board& board) { return serve_epoll(board, 0, false); });
  ASSERT_TRUE(lab.wait_ready());
  for (int i = 0; i < 20; ++i) (void)ask_from(lab.machine(), kHostAddress, 7777);
  EXPECT_LE(lab.board().counts[1], 41U);
}

TEST(Inject, AClientOnTheHostIsRelayed) {
  InjectLab lab({"7777:80"}, [](Board& board) { return serve_blocking(board, AF_INET); });
  ASSERT_TRUE(lab.wait_ready());
  EXPECT_EQ(ask_from(lab.host(), "127.0.0.1", 7777), "hello 10.0.2.2 10.0.2.100:80");
  EXPECT_EQ(ask_from(lab.host(), kHostAddress, 7777), "hello 10.0.2.2 10.0.2.100:80");
  const std::string much(4 << 20, 'x');
  EXPECT_EQ(ask_from(lab.host(), "127.0.0.1", 7777, much), much + " 10.0.2.2 10.0.2.100:80");
  EXPECT_EQ(lab.memory().ports[0].relayed, 3U);
  EXPECT_EQ(lab.memory().ports[0].injected, 0U);
}

TEST(Inject, ClientsInsideAreServedBesideThoseOfTheHost) {
  InjectLab lab({"7777:80"}, [](Board& board) { return serve_epoll(board, 0, true); });
  ASSERT_TRUE(lab.wait_ready());
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(ask_from(lab.container(), "127.0.0.1", 80), "hello 127.0.0.1 127.0.0.1:80");
    ASSERT_EQ(ask_from(lab.machine(), kHostAddress, 7777), "hello 198.51.100.2 10.0.2.100:80");
  }
  EXPECT_EQ(lab.board().counts[0], 40U) << "a bell came out of accept";
}

TEST(Inject, ADualStackServerSeesMappedClients) {
  InjectLab lab({"7777:80", "[::]:7778:80"},
                [](Board& board) { return serve_blocking(board, AF_INET6); });
  ASSERT_TRUE(lab.wait_ready());
  EXPECT_EQ(ask_from(lab.machine(), kHostAddress, 7777).substr(0, 26),
            "hello ::ffff:198.51.100.2 ");
  EXPECT_EQ(ask_from(lab.machine(), kHostAddress6, 7778).substr(0, 14), "hello fd51::2 ");
  EXPECT_EQ(ask_from(lab.machine(), kHostAddress6, 7777), "!ECONNREFUSED");
  EXPECT_EQ(lab.memory().ports[0].injected, 1U);
  EXPECT_EQ(lab.memory().ports[1].injected, 1U);
}

TEST(Inject, AsManyPortsAsARegistrationMayHave) {
  std::vector<std::string> ports;
  for (int port = 7777; port < 7777 + 240; ++port) ports.push_back(std::to_string(port) + ":80");
  InjectLab lab(ports, [](Board& board) { return serve_epoll(board, 0, true); });
  ASSERT_TRUE(lab.wait_ready());
  EXPECT_EQ(ask_from(lab.machine(), kHostAddress, 7777 + 239), "hello 198.51.100.2 10.0.2.100:80");
  EXPECT_EQ(lab.memory().ports[239].injected, 1U);
}

TEST(Inject, ConnectionsAreRefusedWhenNobodyListens) {
  InjectLab lab({"7777:80"}, [](Board& board) {
    board.ready = 1;
    while (board.stop < 1) ::usleep(1000);
    int listener = listen_at(AF_INET, 0);
    board.ready = 2;
    while (board.stop < 2) ::usleep(1000);
    ::close(listener);
    board.ready = 3;
    while (board.stop < 3) ::usleep(1000);
    listener = listen_at(AF_INET6, 0);
    ::shutdown(listener, SHUT_RD);
    board.ready = 4;
    while (board.stop < 4) ::usleep(1000);
    ::listen(listener, 8);
    board.ready = 5;
    sockaddr_storage peer{};
    answer(accept_one(listener, peer), peer);
    return 0;
  });
  ASSERT_TRUE(lab.wait_ready(1));
  EXPECT_EQ(ask_from(lab.machine(), kHostAddress, 7777), "!ECONNREFUSED");
  lab.board().stop = 1;
  ASSERT_TRUE(lab.wait_ready(2));
  UniqueFd waits;
  lab.machine().run([&] {
    waits = UniqueFd(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in host{};
    host.sin_family = AF_INET;
    host.sin_port = htons(7777);
    ::inet_pton(AF_INET, kHostAddress, &host.sin_addr);
    EXPECT_EQ(::connect(waits.get(), reinterpret_cast<sockaddr*>(&host), sizeof host), 0);
  });
  lab.board().stop = 2;
  ASSERT_TRUE(lab.wait_ready(3));
  char byte = 0;
  EXPECT_EQ(::recv(waits.get(), &byte, 1, 0), -1);
  EXPECT_EQ(errno, ECONNRESET);
  EXPECT_TRUE(
      eventually([&] { return ask_from(lab.machine(), kHostAddress, 7777) == "!ECONNREFUSED"; }));
  lab.board().stop = 3;
  ASSERT_TRUE(lab.wait_ready(4));
  EXPECT_TRUE(
      eventually([&] { return ask_from(lab.machine(), kHostAddress, 7777) == "!ECONNREFUSED"; }));
  lab.board().stop = 4;
  ASSERT_TRUE(lab.wait_ready(5));
  EXPECT_EQ(ask_from(lab.machine(), kHostAddress, 7777).substr(0, 6), "hello ");
  EXPECT_EQ(lab.finish(), 0);
}

/// Threads and processes on one blocking listener.
int serve_many(Board& board, int processes, int threads) {
  const int listener = listen_at(AF_INET, 0);
  for (int i = 1; i < processes; ++i) {
    if (::fork() == 0) break;
  }
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      for (;;) {
        sockaddr_storage peer{};
        const int fd = accept_one(listener, peer);
        if (fd < 0) {
          ++board.counts[2];
          return;
        }
        ++board.counts[0];
        answer(fd, peer);
      }
    });
  }
  board.ready = 1;
  for (auto& one : all) one.join();
  return 94;
}

int clients_in(const NetworkNamespace& place, const std::string& wanted, int threads, int each,
               const std::function<void(int)>& meanwhile = {}) {
  std::atomic<int> good{0};
  std::atomic<int> left{threads};
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      place.run([&] {
        for (int k = 0; k < each; ++k) {
          const std::string got = ask(kHostAddress, 7777);
          if (got == wanted) {
            ++good;
          } else {
            ADD_FAILURE() << got;
          }
        }
      });
      --left;
    });
  }
  for (int turn = 0; meanwhile && left > 0; ++turn) meanwhile(turn);
  for (auto& one : all) one.join();
  return good;
}

TEST(Inject, ManyThreadsAndProcessesShareOneListener) {
  InjectLab lab({"7777:80"}, [](Board& board) { return serve_many(board, 3, 3); });
  ASSERT_TRUE(lab.wait_ready());
  EXPECT_EQ(clients_in(lab.machine(), "hello 198.51.100.2 10.0.2.100:80", 8, 50), 400);
  EXPECT_EQ(lab.board().counts[0], 400U);
}

TEST(Inject, NoConnectionIsLostWhenEnginesAreKilled) {
  InjectLab lab({"7777:80"}, [](Board& board) { return serve_many(board, 2, 3); });
  ASSERT_TRUE(lab.wait_ready());
  const int good = clients_in(lab.machine(), "hello 198.51.100.2 10.0.2.100:80", 4, 300,
                              [&](int) { lab.kill_engine(); });
  EXPECT_EQ(good, 1200);
  EXPECT_EQ(lab.board().counts[0], 1200U);
  EXPECT_EQ(lab.board().counts[2], 0U);
  EXPECT_GT(lab.memory().engine_restarts, 10U);
}

TEST(Inject, RelayedConnectionsSurviveTheirEngine) {
  InjectLab lab({"7777:80"}, [](Board& board) { return serve_many(board, 1, 3); });
  ASSERT_TRUE(lab.wait_ready());
  const std::string much(256 << 10, 'y');
  std::atomic<bool> done{false};
  std::thread client([&] {
    for (int i = 0; i < 50; ++i) {
      const std::string got = ask_from(lab.host(), "127.0.0.1", 7777, much);
      // Without the megabytes in the message.
      EXPECT_TRUE(got == much + " 10.0.2.2 10.0.2.100:80")
          << got.size() << " bytes: " << got.substr(0, 20);
    }
    done = true;
  });
  // Each engine comes as far as a call: one that is killed at its start, again and again, relays
  // nothing.
  while (!done) {
    const auto calls = lab.memory().calls;
    (void)eventually([&] { return done || lab.memory().calls > calls; });
    lab.kill_engine();
  }
  client.join();
  EXPECT_GT(lab.memory().engine_restarts, 10U);
}

TEST(Inject, ABlockedAcceptEndsWithItsReceiveTimeout) {
  InjectLab lab({"7777:80"}, [](Board& board) {
    const int listener = listen_at(AF_INET, 0);
    const timeval soon{0, 300000};
    ::setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
    board.ready = 1;
    sockaddr_storage peer{};
    return accept_one(listener, peer) < 0 && errno == EAGAIN ? 0 : 1;
  });
  EXPECT_EQ(lab.finish(), 0);
}

TEST(Inject, FlagsAndTruncatedNamesAreAsTheKernelGivesThem) {
  InjectLab lab({"7777:80"}, [](Board& board) {
    const int listener = listen_at(AF_INET, 0);
    board.ready = 1;
    std::array<char, 32> name;
    name.fill('#');
    socklen_t size = 4;
    const int fd =
        ::accept4(listener, reinterpret_cast<sockaddr*>(name.data()), &size, SOCK_NONBLOCK);
    const bool flags = (::fcntl(fd, F_GETFL) & O_NONBLOCK) != 0 && ::fcntl(fd, F_GETFD) == 0;
    const bool cut = size == sizeof(sockaddr_in) && name[4] == '#' && name[3] != '#';
    int device = -1;
    socklen_t length = sizeof device;
    ::getsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &device, &length);
    ::close(fd);
    const bool refused = ::accept4(listener, nullptr, nullptr, 1) < 0 && errno == EINVAL;
    const bool bad = ::accept4(listener, reinterpret_cast<sockaddr*>(8), &size, 0) < 0;
    return flags && cut && device > 1 && refused && bad && errno == EFAULT ? 0 : 1;
  });
  ASSERT_TRUE(lab.wait_ready());
  (void)ask_from(lab.machine(), kHostAddress, 7777);
  (void)ask_from(lab.machine(), kHostAddress, 7777);
  EXPECT_EQ(lab.finish(), 0);
}

}  // namespace
}  // namespace sockhop::tests
