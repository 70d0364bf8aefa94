#include "tests/support/engine_tracer.h"

#include <dirent.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>

namespace sockhop::tests {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kQuiet{3};

struct DirCloser {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

std::vector<int> threads_of(int process) {
  std::vector<int> found;
  const std::string path = "/proc/" + std::to_string(process) + "/task";
  const std::unique_ptr<DIR, DirCloser> dir(::opendir(path.c_str()));
  while (const dirent* entry = dir ? ::readdir(dir.get()) : nullptr) {
    if (const int thread = std::atoi(entry->d_name); thread > 0) found.push_back(thread);
  }
  return found;
}

void go_on(int thread, int signal = 0) {
  ::ptrace(PTRACE_SYSCALL, thread, nullptr, static_cast<long>(signal));
}

}  // namespace

EngineTracer::EngineTracer(int engine) : engine_(engine) {
  watch_all(true);
  settle();
}

void EngineTracer::watch_all(bool interrupt) {
  for (const int thread : threads_of(engine_)) {
    if (std::find(threads_.begin(), threads_.end(), thread) != threads_.end()) continue;
    if (::ptrace(PTRACE_SEIZE, thread, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE) == 0 &&
        interrupt) {
      ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
    }
    threads_.push_back(thread);
  }
}

EngineTracer::Look EngineTracer::look(int thread) {
  int status = 0;
  if (::waitpid(thread, &status, __WALL | WNOHANG) != thread) return Look::nothing;
  if (!WIFSTOPPED(status)) {
    std::erase(threads_, thread);
    return Look::stopped;
  }
  const int signal = WSTOPSIG(status);
  if (signal == (SIGTRAP | 0x80)) return Look::counted;
  if ((status >> 16) == PTRACE_EVENT_CLONE) watch_all(false);
  go_on(thread, (status >> 16) != 0 ? 0 : signal);
  return Look::stopped;
}

/// The interruption ends waits; the loop makes some calls before it waits again.
void EngineTracer::settle() {
  auto last = Clock::now();
  while (Clock::now() - last < kQuiet) {
    for (const int thread : std::vector<int>(threads_)) {
      const Look seen = look(thread);
      if (seen == Look::counted) go_on(thread);
      if (seen != Look::nothing) last = Clock::now();
    }
  }
}

bool EngineTracer::kill_at(int stop, const std::function<bool()>& done) {
  int count = 0;
  while (!done()) {
    for (const int thread : std::vector<int>(threads_)) {
      if (look(thread) != Look::counted) continue;
      if (++count == stop) {
        user_regs_struct registers{};
        ::ptrace(PTRACE_GETREGS, thread, nullptr, &registers);
        last_call_ = static_cast<long>(registers.orig_rax);
        end();
        return true;
      }
      go_on(thread);
    }
  }
  let_go();
  return false;
}

void EngineTracer::end() {
  ::kill(engine_, SIGKILL);
  while (!threads_.empty()) {
    for (const int thread : std::vector<int>(threads_)) {
      int status = 0;
      const int got = ::waitpid(thread, &status, __WALL | WNOHANG);
      if (got == thread && !WIFSTOPPED(status)) std::erase(threads_, thread);
      if (got < 0) std::erase(threads_, thread);
    }
  }
}

void EngineTracer::let_go() {
  for (const int thread : threads_) ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
  for (const int thread : threads_) {
    int status = 0;
    if (::waitpid(thread, &status, __WALL) == thread && WIFSTOPPED(status))
      ::ptrace(PTRACE_DETACH, thread, nullptr, nullptr);
  }
  threads_.clear();
}

}  // namespace sockhop::tests
