#include "sys/engine_process.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

namespace sockhop::sys {

Result<int> clone_engine(const std::function<int()>& run) {
  const pid_t guard = ::getpid();
  // The raw call returns twice like fork(2); fork itself can't share the descriptor table. The
  // child is single-threaded, so what the C library would do beside it is not needed.
  const long child =
      ::syscall(SYS_clone, CLONE_FILES | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (child < 0) return errno_error("clone");
  if (child > 0) return static_cast<int>(child);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != guard) ::_exit(1);  // the guard died before the line above
  ::_exit(run());
}

namespace {

EngineEnd ended_of(int status) {
  if (WIFEXITED(status)) return {true, WEXITSTATUS(status)};
  return {false, WTERMSIG(status)};
}

Result<std::optional<EngineEnd>> ended_already(int child) {
  int status = 0;
  const pid_t ended = ::waitpid(child, &status, WNOHANG);
  if (ended < 0) return errno_error("waitpid");
  if (ended == 0) return std::optional<EngineEnd>();
  return std::optional<EngineEnd>(ended_of(status));
}

}  // namespace

void watch_children() {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  ::sigaction(SIGCHLD, &action, nullptr);
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
}

Result<std::optional<EngineEnd>> wait_while(int child, FdRef notify, int milliseconds) {
  auto ended = ended_already(child);
  if (!ended || *ended) return ended;
  sigset_t mask;
  ::sigprocmask(SIG_BLOCK, nullptr, &mask);
  ::sigdelset(&mask, SIGCHLD);
  pollfd entry{notify.get(), 0, 0};
  const timespec limit{milliseconds / 1000, milliseconds % 1000 * 1'000'000L};
  ::ppoll(&entry, 1, milliseconds < 0 ? nullptr : &limit, &mask);
  return ended_already(child);
}

Result<EngineEnd> end_child(int child) {
  ::kill(child, SIGKILL);
  return wait_for(child);
}

Result<EngineEnd> wait_for(int child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return errno_error("waitpid");
  }
  return ended_of(status);
}

void make_undumpable() { ::prctl(PR_SET_DUMPABLE, 0); }

Status enter_user_namespace(FdRef userns) {
  struct stat wanted {};
  struct stat own {};
  if (::fstat(userns.get(), &wanted) < 0) return errno_error("fstat");
  if (::stat("/proc/self/ns/user", &own) < 0) return errno_error("stat", "/proc/self/ns/user");
  // Entering the own user namespace is EINVAL (setns(2)).
  if (wanted.st_ino == own.st_ino && wanted.st_dev == own.st_dev) return {};
  if (::setns(userns.get(), CLONE_NEWUSER) < 0) return errno_error("setns");
  return {};
}

std::uint64_t own_user_namespace() {
  struct stat own {};
  return ::stat("/proc/self/ns/user", &own) == 0 ? own.st_ino : 0;
}

bool stands_in(std::int32_t process, std::uint64_t home) {
  struct stat other {};
  const std::string path = "/proc/" + std::to_string(process) + "/ns/user";
  if (::stat(path.c_str(), &other) == 0) return other.st_ino == home;
  return errno == EACCES || errno == EPERM;
}

Result<UniqueFd> bytes_to_fd(std::string_view bytes) {
  UniqueFd fd(::memfd_create("sockhop", MFD_CLOEXEC));
  if (!fd) return errno_error("memfd_create");
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd.get(), bytes.data(), bytes.size());
    if (done < 0) return errno_error("write");
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return fd;
}

Result<std::string> bytes_of_fd(FdRef fd) {
  std::string bytes;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t size =
        ::pread(fd.get(), part.data(), part.size(), static_cast<off_t>(bytes.size()));
    if (size < 0) return errno_error("pread");
    if (size == 0) return bytes;
    bytes.append(part.data(), static_cast<std::size_t>(size));
  }
}

}  // namespace sockhop::sys
