// An engine killed at each system call that it makes for one call of the container, one after the
// other: the next engine must bring that call to the end that it has without a crash.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>

#include "core/policy.h"
#include "core/verdict.h"
#include "sys/linux_abi.h"
#include "tests/support/engine_tracer.h"
#include "tests/support/inject_lab.h"

namespace sockhop::tests {

using Board = InjectLab::Board;
inline constexpr std::uint16_t kPort = 7000;
inline constexpr std::uint16_t kRefused = 7001;
inline constexpr int kPatience = 10'000;
// On the board: the step that is wanted, the step that is done, what came of it.
enum Count { wanted, done, outcome };

inline sockaddr_in name_of(std::uint16_t port, const char* address = kMachineAddress) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  ::inet_pton(AF_INET, address, &name.sin_addr);
  return name;
}

/// 0 or the errno.
inline int connect_to(int fd, std::uint16_t port) {
  const sockaddr_in name = name_of(port);
  return ::connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 ? 0 : errno;
}

inline int tcp_socket(int flags = 0) { return ::socket(AF_INET, SOCK_STREAM | flags, 0); }

/// A connected socket, made before the call is taken apart: the server may not be there yet.
inline std::pair<int, int> connected_socket() {
  for (;;) {
    const int fd = tcp_socket();
    const int result = connect_to(fd, kPort);
    if (result != ECONNREFUSED) return {fd, result};
    ::close(fd);
  }
}

inline std::uint64_t option_of(int fd, int option) {
  std::uint64_t value = 0;
  socklen_t size = sizeof value;
  ::getsockopt(fd, SOL_SOCKET, option, &value, &size);
  return value;
}

inline bool ready_for(int fd, short events) {
  pollfd one{fd, events, 0};
  return ::poll(&one, 1, kPatience) == 1;
}

/// Says the number of the step to the server and hears it again.
inline int talk(int fd, std::uint64_t step) {
  std::uint64_t answer = 0;
  if (::send(fd, &step, sizeof step, MSG_NOSIGNAL) != sizeof step) return 200;
  if (!ready_for(fd, POLLIN)) return 201;
  if (::recv(fd, &answer, sizeof answer, 0) != sizeof answer) return 202;
  return answer == step ? 0 : 203;
}

/// Repeats each number that it is told; counts connections and those that said nothing.
class EchoServer {
 public:
  explicit EchoServer(NetworkNamespace& place) {
    place.run([this] {
      listener_ = tcp_socket(SOCK_CLOEXEC);
      const sockaddr_in name = name_of(kPort, "0.0.0.0");
      ::bind(listener_, reinterpret_cast<const sockaddr*>(&name), sizeof name);
      ::listen(listener_, 64);
    });
    thread_ = std::thread([this] { serve(); });
  }
  ~EchoServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  std::atomic<std::uint64_t> connections{0};
  std::atomic<std::uint64_t> silent{0};

 private:
  void serve() {
    for (;;) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      ++connections;
      std::uint64_t word = 0;
      if (ready_for(fd, POLLIN) && ::recv(fd, &word, sizeof word, 0) == sizeof word) {
        (void)!::send(fd, &word, sizeof word, MSG_NOSIGNAL);
      } else {
        ++silent;
      }
      ::close(fd);
    }
  }
  int listener_ = -1;
  std::thread thread_;
};

/// What the container does in one step. `call` brackets the one call that is taken apart.
struct Step {
  Board& board;
  std::uint64_t number;
  /// The engine is traced from here on.
  void begin() const {
    board.ready = static_cast<int>(number);
    while (board.counts[wanted] < number) ::usleep(100);
  }
};
using Play = int (*)(const Step&);

/// In a pid namespace of its own, as a container: who holds a socket is looked for there.
inline int play_all(Board& board, Play play) {
  ::unshare(CLONE_NEWPID);
  const pid_t player = ::fork();
  int status = 0;
  if (player != 0) return ::waitpid(player, &status, 0) == player ? status : 1;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (std::uint64_t number = 1; board.stop == 0; ++number) {
    const int result = play(Step{board, number});
    board.counts[outcome] = static_cast<std::uint64_t>(result);
    board.counts[done] = number;
  }
  ::_exit(0);
}

inline core::Policy hop_everything(bool strict) {
  core::Policy policy;
  policy.strict = strict;
  policy.rules.push_back(core::parse_rule("hop 198.51.100.0/24").value());
  return policy;
}

struct Tally {
  int stops = 0;
  std::uint64_t steps = 0;
};

inline std::string stays_of(const sys::SessionMemory& memory) {
  std::string text;
  for (std::size_t i = 0; i < memory.stays.size(); ++i) {
    if (memory.stays[i] == 0 || i == 0) continue;
    text += std::string(core::name_of(static_cast<core::Reason>(i))) + " " +
            std::to_string(memory.stays[i]) + " ";
  }
  return text;
}

/// Plays step after step, with the engine killed one stop later each time, until it gets through
/// or `limit` is reached.
inline Tally take_apart(InjectLab& lab, int limit) {
  Board& board = lab.board();
  Tally tally;
  for (bool killed = true; killed && tally.stops < limit; ++tally.stops) {
    const std::uint64_t number = ++tally.steps;
    if (!eventually([&] { return board.ready >= static_cast<int>(number); })) {
      ADD_FAILURE() << "hangs before step " << number;
      break;
    }
    const int old = board.engine;
    EngineTracer tracer(old);
    board.counts[wanted] = number;
    killed = tracer.kill_at(tally.stops + 1, [&] { return board.counts[done] >= number; });
    if (!eventually([&] { return board.counts[done] >= number; })) {
      ADD_FAILURE() << "the call hangs after a kill at stop " << tally.stops + 1;
      break;
    }
    EXPECT_EQ(board.counts[outcome], 0U)
        << "after a kill at stop " << tally.stops + 1 << " in system call " << tracer.last_call()
        << "; stays: " << stays_of(lab.memory());
    if (killed) (void)eventually([&] { return board.engine != old; });
  }
  board.stop = 1;
  board.counts[wanted] = ~0ULL;
  return tally;
}

struct Expected {
  std::uint64_t connections = 1;  // of each step
  /// Made before the call is taken apart: the step that is not played any more has made them.
  std::uint64_t early = 0;
  int limit = 1'000'000;
  bool strict = false;
};

inline void expect_taken_apart(Play play, Expected expected = {}) {
  const auto program = [play](Board& board) { return play_all(board, play); };
  InjectLab lab({}, program, hop_everything(expected.strict));
  EchoServer server(lab.machine());
  const Tally tally = take_apart(lab, expected.limit);
  EXPECT_GT(tally.stops, 40) << "the engine made hardly a system call: nothing was tested";
  const std::uint64_t least = tally.steps * expected.connections + expected.early;
  EXPECT_TRUE(eventually([&] { return server.connections >= least; }))
      << server.connections << " connections, not " << least;
  // With an early one, the step that is not played any more may get through before its program
  // ends.
  const std::uint64_t most = expected.early == 0 ? least : least + expected.connections - 1;
  EXPECT_LE(server.connections, most) << "a connection was made twice";
  EXPECT_LE(server.silent, expected.early);
  EXPECT_GE(lab.memory().hops, expected.connections == 0 ? 0 : tally.steps);
}

inline bool is_of_own_namespace(int fd) {
  const int fresh = tcp_socket();
  const bool same = option_of(fd, SO_NETNS_COOKIE) == option_of(fresh, SO_NETNS_COOKIE);
  ::close(fresh);
  return same;
}

}  // namespace sockhop::tests
