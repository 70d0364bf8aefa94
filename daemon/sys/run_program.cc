#include "sys/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "base/unique_fd.h"
#include "sys/clock.h"

namespace sockhop::sys {
namespace {

constexpr std::size_t kMaxOutput = 64 * 1024;
constexpr const char* kUsualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (const auto& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

Result<pid_t> start(const std::vector<std::string>& words, const UniqueFd& output) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, output.get(), STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  pid_t pid = 0;
  const auto arguments = pointers_to(words);
  const int failed =
      ::posix_spawn(&pid, words[0].c_str(), &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) return Error{failed, "posix_spawn", words[0]};
  return pid;
}

/// Reads until the other side is closed; false when the time is over.
bool read_until_end(const UniqueFd& pipe, std::int64_t deadline, std::string& output) {
  char part[4096];
  while (true) {
    const std::int64_t left = deadline - monotonic_ns();
    if (left <= 0) return false;
    pollfd waiting{pipe.get(), POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>(left / 1'000'000) + 1) <= 0) continue;
    const ssize_t got = ::read(pipe.get(), part, sizeof(part));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    if (output.size() < kMaxOutput) output.append(part, static_cast<std::size_t>(got));
  }
}

bool same_file(const std::string& path, const struct stat& own) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && found.st_dev == own.st_dev &&
         found.st_ino == own.st_ino;
}

bool is_program(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

Result<Ended> run_program(const std::vector<std::string>& words,
                          std::chrono::milliseconds patience) {
  const std::int64_t deadline = monotonic_ns() + patience.count() * 1'000'000;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error("pipe2");
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const auto pid = start(words, writing);
  if (!pid) return pid.error();
  writing.reset();
  Ended ended;
  const bool in_time = read_until_end(reading, deadline, ended.output);
  if (!in_time) ::kill(*pid, SIGKILL);
  while (::waitpid(*pid, &ended.status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) return Error{ETIMEDOUT, "run", words[0]};
  return ended;
}

Error become_program(const std::string& path, const std::vector<std::string>& words) {
  ::execve(path.c_str(), pointers_to(words).data(), environ);
  return errno_error("execve", path);
}

Result<std::string> find_other_program(const std::string& name) {
  struct stat own {};
  if (::stat("/proc/self/exe", &own) != 0) return errno_error("stat", "/proc/self/exe");
  if (name.find('/') != std::string::npos) {
    if (same_file(name, own)) return Error{ELOOP, "find program", name + " is this very program"};
    if (!is_program(name)) return Error{ENOENT, "find program", name + " cannot be executed"};
    return name;
  }
  const char* path = std::getenv("PATH");
  std::string_view folders = path != nullptr && *path != '\0' ? path : kUsualPath;
  while (!folders.empty()) {
    const auto colon = folders.find(':');
    const std::string candidate = std::string(folders.substr(0, colon)) + "/" + name;
    if (candidate[0] == '/' && is_program(candidate) && !same_file(candidate, own)) {
      return candidate;
    }
    folders = colon == std::string_view::npos ? std::string_view() : folders.substr(colon + 1);
  }
  return Error{ENOENT, "find program", name + " is not in PATH"};
}

}  // namespace sockhop::sys
