#include "sys/sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "sys/run_program.h"
#include "sys/spawn.h"
#include "sys/text_file.h"

namespace sockhop::sys {
namespace {

constexpr std::chrono::milliseconds kMapPatience{5000};
constexpr unsigned long kNamespaces = CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID;

/// Of the child only: it says what failed, and is gone.
[[noreturn]] void give_up(const UniqueFd& report, const char* what) {
  const std::string text = std::string(what) + ": " + std::strerror(errno);
  [[maybe_unused]] const ssize_t told = ::write(report.get(), text.data(), text.size());
  ::_exit(126);
}

void set_up_mounts(const UniqueFd& report, const std::string& bind_root) {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) {
    give_up(report, "mount(MS_SLAVE)");
  }
  if (!bind_root.empty() &&
      ::mount("/", bind_root.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    give_up(report, "binding the host's file system");
  }
  // The runtime looks at itself there.
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NOEXEC | MS_NODEV, nullptr) != 0) {
    give_up(report, "mounting /proc (is part of it hidden? then no sandbox can be made here)");
  }
}

[[noreturn]] void run_inside(const UniqueFd& gate, const UniqueFd& report,
                             const std::vector<std::string>& words, const std::string& bind_root) {
  char word = 0;
  ssize_t got = 0;
  while ((got = ::read(gate.get(), &word, 1)) < 0 && errno == EINTR) {
  }
  if (got != 1) ::_exit(126);  // the one who made us has ended
  // Being root inside changes the credentials, and that would clear the death signal.
  if (::setresgid(0, 0, 0) != 0) give_up(report, "setresgid");
  if (::setresuid(0, 0, 0) != 0) give_up(report, "setresuid");
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up(report, "prctl");
  pollfd reader{report.get(), 0, 0};  // a death before that shows here
  if (::poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR) != 0) ::_exit(126);
  set_up_mounts(report, bind_root);
  const Error error = become_program(words[0], words);
  errno = error.code;
  give_up(report, words[0].c_str());
}

Status write_map(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) return errno_error("write", path);
  return {};
}

Status map_own_ids(const std::string& proc) {
  if (auto denied = write_map(proc + "/setgroups", "deny"); !denied) return denied;
  if (auto uids = write_map(proc + "/uid_map", "0 " + std::to_string(::geteuid()) + " 1"); !uids) {
    return uids;
  }
  return write_map(proc + "/gid_map", "0 " + std::to_string(::getegid()) + " 1");
}

Status map_by_program(const char* program, pid_t pid, unsigned own, const core::SubIds& ids) {
  const auto path = find_other_program(program);
  if (!path) return path.error();
  const auto ended = run_program({*path, std::to_string(pid), "0", std::to_string(own), "1", "1",
                                  std::to_string(ids.first), std::to_string(ids.count)},
                                 kMapPatience);
  if (!ended) return ended.error();
  if (ended->status != 0) return Error{EPERM, program, ended->output};
  return {};
}

Status map_ids(pid_t pid, const IdMap& ids) {
  const bool one_id = ids.uids.count == 0 || ids.gids.count == 0;
  if (one_id || !find_other_program("newuidmap")) {
    return map_own_ids("/proc/" + std::to_string(pid));
  }
  if (auto uids = map_by_program("newuidmap", pid, ::geteuid(), ids.uids); !uids) return uids;
  return map_by_program("newgidmap", pid, ::getegid(), ids.gids);
}

pid_t passed_on_to = 0;
void pass_on(int signal) { ::kill(passed_on_to, signal); }

}  // namespace

Result<Sandbox> Sandbox::make(const std::vector<std::string>& words, const std::string& bind_root,
                              const IdMap& ids) {
  auto gate = make_lifeline();
  if (!gate) return gate.error();
  auto report = make_lifeline();
  if (!report) return report.error();
  const long made = ::syscall(SYS_clone, kNamespaces | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (made < 0) {
    return errno_error("clone",
                       "no user namespace can be made; allow them: "
                       "sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000");
  }
  if (made == 0) {
    gate->second.reset();
    report->first.reset();
    run_inside(gate->first, report->second, words, bind_root);
  }
  const auto pid = static_cast<pid_t>(made);
  if (auto mapped = map_ids(pid, ids); !mapped) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return mapped.error();
  }
  return Sandbox(pid, std::move(gate->second), std::move(report->first));
}

Status Sandbox::release() {
  [[maybe_unused]] const ssize_t told = ::write(gate_.get(), "", 1);
  gate_.reset();
  std::string text;
  char part[512];
  ssize_t got = 0;
  while ((got = ::read(report_.get(), part, sizeof(part))) > 0 || (got < 0 && errno == EINTR)) {
    if (got > 0) text.append(part, static_cast<std::size_t>(got));
  }
  if (text.empty()) return {};
  ::waitpid(pid_, nullptr, 0);
  return Error{EPERM, "sandbox", text};
}

int Sandbox::wait() {
  passed_on_to = pid_;
  struct sigaction action {};
  action.sa_handler = pass_on;
  for (const int signal : {SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  // A terminal sends these to the whole group, the program inside among them.
  for (const int signal : {SIGINT, SIGQUIT}) ::signal(signal, SIG_IGN);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

IdMap own_id_map() {
  const passwd* entry = ::getpwuid(::geteuid());
  const std::string name = entry != nullptr ? entry->pw_name : "";
  const std::string number = std::to_string(::geteuid());
  const auto uids = read_text_file("/etc/subuid");
  const auto gids = read_text_file("/etc/subgid");
  if (!uids || !gids) return {};
  return {core::sub_ids_of(*uids, name, number), core::sub_ids_of(*gids, name, number)};
}

}  // namespace sockhop::sys
