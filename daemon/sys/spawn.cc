#include "sys/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>

namespace sockhop::sys {
namespace {

// Descriptors are first copied above the numbers that the child is to see, so that no dup2 in the
// child can overwrite one that a later dup2 needs.
constexpr int kAboveTargets = 1024;

struct Actions {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  Actions() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
  }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  ~Actions() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
};

void set_attributes(posix_spawnattr_t& attributes) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
}

}  // namespace

Result<pid_t> spawn(const Program& program) {
  Actions actions;
  set_attributes(actions.attributes);
  std::vector<UniqueFd> copies;
  int target = 3;
  for (const FdRef& descriptor : program.descriptors) {
    copies.emplace_back(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, kAboveTargets));
    // The limit of open files may lie below; any number that is no target does as well.
    if (!copies.back()) {
      copies.back() = UniqueFd(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC,
                                       3 + static_cast<int>(program.descriptors.size())));
    }
    if (!copies.back()) return errno_error("fcntl(F_DUPFD_CLOEXEC)", program.path);
    posix_spawn_file_actions_adddup2(&actions.files, copies.back().get(), target++);
  }
  posix_spawn_file_actions_addclosefrom_np(&actions.files, target);

  std::vector<char*> arguments{const_cast<char*>(program.path.c_str())};
  for (const auto& argument : program.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, program.path.c_str(), &actions.files, &actions.attributes,
                                   arguments.data(), environ);
  if (failed != 0) return Error{failed, "posix_spawn", program.path};
  return pid;
}

Result<std::pair<UniqueFd, UniqueFd>> make_lifeline() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error("pipe2");
  return std::pair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void signal_child(pid_t child, int signal) { ::kill(child, signal); }

std::optional<EndedChild> reap_child() {
  EndedChild ended;
  ended.pid = ::waitpid(-1, &ended.status, WNOHANG);
  if (ended.pid <= 0) return std::nullopt;
  return ended;
}

std::string describe_exit(int wait_status) {
  if (WIFSIGNALED(wait_status)) return "signal " + std::to_string(WTERMSIG(wait_status));
  return "exit status " + std::to_string(WEXITSTATUS(wait_status));
}

Result<std::string> own_folder() {
  char own[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", own, sizeof(own));
  if (length < 0) return errno_error("readlink", "/proc/self/exe");
  const std::string path(own, static_cast<std::size_t>(length));
  return path.substr(0, path.rfind('/'));
}

Result<std::string> find_program(const std::string& name) {
  const auto folder = own_folder();
  if (!folder) return folder;
  for (const auto& candidate : {*folder + "/" + name, *folder + "/../libexec/sockhop/" + name}) {
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return Error{ENOENT, "find_program", name + " is not in " + *folder + "; install it there"};
}

Result<std::string> find_shared_file(const std::string& name) {
  const auto folder = own_folder();
  if (!folder) return folder;
  std::string path = *folder + "/../share/sockhop/" + name;
  if (::access(path.c_str(), R_OK) == 0) return path;
  return Error{ENOENT, "find_shared_file", path + " is not installed"};
}

}  // namespace sockhop::sys
