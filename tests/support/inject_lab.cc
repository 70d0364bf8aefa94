#include "tests/support/inject_lab.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <thread>

#include "core/sockaddr.h"
#include "engine/endpoint_key.h"
#include "engine/session.h"
#include "sys/engine_process.h"
#include "sys/host_endpoint.h"
#include "sys/taken_connection.h"

namespace sockhop::tests {
namespace {

constexpr std::chrono::seconds kPatience{20};

int install_filter() {
  constexpr std::uint32_t kNr = 0;
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNr),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_listen, 6, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_accept, 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_accept4, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_getsockname, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_connect, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_epoll_create1, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return static_cast<int>(
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
}

UniqueFd fetch(int process, int number) {
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd.get(), number, 0)));
}

int serve_session(sys::SessionMemory& memory, const engine::SessionStart& start) {
  if (!sys::find_taken_connection(memory) || !sys::close_unnamed(memory)) return 1;
  boost::asio::io_context loop(1);
  auto session = engine::Session::open(loop, memory, start);
  if (!session) {
    std::fprintf(stderr, "engine: %s\n", to_string(session.error()).c_str());
    return 1;
  }
  (*session)->on_ended([&] { loop.stop(); });
  loop.run();
  return 0;
}

}  // namespace

bool eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

InjectLab::InjectLab(const std::vector<std::string>& ports, Program program, core::Policy policy) {
  void* room =
      ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  board_ = new (room) Board;
  memory_ = sys::map_session_memory().value();
  host_.shell("ip link add wire type veth peer name wire netns " + machine_.path());
  host_.shell(std::string("ip addr add ") + kHostAddress + "/24 dev wire; ip addr add " +
              kHostAddress6 + "/64 dev wire nodad; ip link set wire up");
  machine_.shell(std::string("ip addr add ") + kMachineAddress + "/24 dev wire; ip addr add " +
                 kMachineAddress6 + "/64 dev wire nodad; ip link set wire up");
  container_.shell(
      "ip link add tap0 type veth peer name far0; ip link set far0 up; ip addr add 10.0.2.100/24 "
      "dev tap0; ip link set tap0 up;"
      "ip route add default via 10.0.2.2 dev tap0");
  for (const auto& text : ports) ports_.push_back(core::parse_published_port(text).value());
  host_.run([&] {
    for (const auto& port : ports_) endpoints_.push_back(sys::bind_host_endpoint(port).value());
  });
  start_program(program);
  start_guard(std::move(policy));
}

void InjectLab::start_program(const Program& program) {
  const int netns = container_.fd().get();
  program_ = ::fork();
  if (program_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setns(netns, CLONE_NEWNET);
  endpoints_.clear();
  board_->notify = install_filter();
  while (board_->go == 0) ::usleep(1000);
  ::close(board_->notify);
  ::_exit(program(*board_));
}

void InjectLab::start_guard(core::Policy policy) {
  ASSERT_TRUE(eventually([&] { return board_->notify >= 0; }));
  UniqueFd notify = fetch(program_, board_->notify);
  ASSERT_TRUE(notify.valid());
  guard_ = ::fork();
  if (guard_ == 0) be_guard(policy, std::move(notify));
  endpoints_.clear();
  ASSERT_TRUE(eventually([&] { return board_->go != 0; }));
}

void InjectLab::be_guard(const core::Policy& policy, UniqueFd notify) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setns(host_.fd().get(), CLONE_NEWNET);
  (void)sys::keep_fd(*memory_, sys::Kept::notify, 0, std::move(notify));
  (void)sys::keep_fd(*memory_, sys::Kept::container_netns, 0,
                     UniqueFd(::dup(container_.fd().get())));
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    (void)sys::keep_fd(*memory_, sys::Kept::endpoint, engine::endpoint_key(ports_[i]),
                       std::move(endpoints_[i]));
  }
  const engine::SessionStart start{
      .container = "lab", .policy = policy, .ports = ports_, .uplinks = {}, .features = {}};
  for (;;) {
    const auto child = sys::clone_engine([&] {
      board_->engine = ::getpid();
      return serve_session(*memory_, start);
    });
    if (!child) ::_exit(1);
    board_->go = 1;
    const auto ended = sys::wait_for(*child);
    if (!ended || ended->by_itself) ::_exit(ended ? ended->status : 1);
    ++memory_->engine_restarts;
  }
}

InjectLab::~InjectLab() {
  if (program_ > 0) ::kill(program_, SIGKILL);
  if (program_ > 0) ::waitpid(program_, nullptr, 0);
  if (guard_ > 0) ::kill(guard_, SIGKILL);
  if (guard_ > 0) ::waitpid(guard_, nullptr, 0);
  ::munmap(board_, sizeof(Board));
  ::munmap(memory_, sizeof(sys::SessionMemory));
}

bool InjectLab::wait_ready(int value) {
  return eventually([&] { return board_->ready >= value; });
}

void InjectLab::kill_engine() {
  const int old = board_->engine;
  ::kill(old, SIGKILL);
  (void)eventually([&] { return board_->engine != old; });
}

int InjectLab::finish() {
  int status = 0;
  ::waitpid(program_, &status, 0);
  program_ = -1;
  return status;
}

std::string ask(const std::string& address, int port, const std::string& text) {
  const core::Endpoint endpoint{core::Address::parse(address).value(),
                                static_cast<std::uint16_t>(port), 0};
  const int family = endpoint.address.is_v4() ? AF_INET : AF_INET6;
  const UniqueFd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{10, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const auto name = core::make_sockaddr(endpoint, family);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(name.data()),
                static_cast<socklen_t>(name.size())) < 0) {
    return std::string("!") + ::strerrorname_np(errno);
  }
  (void)!::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL);
  ::shutdown(socket.get(), SHUT_WR);
  std::string all;
  char part[4096];
  for (;;) {
    const ssize_t size = ::recv(socket.get(), part, sizeof part, 0);
    if (size < 0 && errno == EINTR) continue;  // a wait with a timeout is not restarted (signal(7))
    if (size < 0) {
      const std::string before = all.empty() ? "" : " after " + std::to_string(all.size());
      return std::string("!") + ::strerrorname_np(errno) + before;
    }
    if (size == 0) return all;
    all.append(part, static_cast<std::size_t>(size));
  }
}

}  // namespace sockhop::tests
