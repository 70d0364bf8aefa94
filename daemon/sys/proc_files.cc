#include "sys/proc_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>

namespace sockhop::sys {
namespace {

std::optional<pid_t> as_pid(std::string_view text) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc{} || end != text.data() + text.size() || pid <= 0) return std::nullopt;
  return pid;
}

std::string path_of(pid_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

template <class Number>
Result<Number> number_in_status(pid_t pid, std::string_view line) {
  const auto status = read_proc_file(path_of(pid, "status"));
  if (!status) return status.error();
  const auto at = status->find(line);
  if (at == std::string::npos) return Error{EINVAL, "/proc/PID/status", {}};
  const char* digits = status->data() + at + line.size();
  Number number = 0;
  if (std::from_chars(digits, status->data() + status->size(), number).ec != std::errc{}) {
    return Error{EINVAL, "/proc/PID/status", {}};
  }
  return number;
}

}  // namespace

Result<std::string> read_again(FdRef file, std::size_t limit) {
  std::string text(std::min<std::size_t>(limit, 4096), '\0');
  std::size_t filled = 0;
  while (true) {
    const ssize_t got =
        ::pread(file.get(), text.data() + filled, text.size() - filled, static_cast<off_t>(filled));
    if (got < 0) return errno_error("pread");
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
    if (filled < text.size()) continue;
    if (filled >= limit) break;
    text.resize(std::min(limit, text.size() * 2));
  }
  text.resize(filled);
  return text;
}

Result<std::string> read_proc_file(const std::string& path, std::size_t limit) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return errno_error("open", path);
  return read_again(file, limit);
}

Result<std::vector<pid_t>> all_processes() {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc"), &::closedir);
  if (!directory) return errno_error("opendir(/proc)");
  std::vector<pid_t> pids;
  while (const dirent* entry = ::readdir(directory.get())) {
    if (const auto pid = as_pid(entry->d_name)) pids.push_back(*pid);
  }
  return pids;
}

Result<std::vector<pid_t>> processes_of_user(uid_t uid) {
  auto pids = all_processes();
  if (!pids) return pids.error();
  std::erase_if(*pids, [uid](pid_t pid) {
    const auto owner = real_uid_of(pid);
    return !owner || *owner != uid;
  });
  return pids;
}

Result<std::vector<pid_t>> nested_pids_of(pid_t pid) {
  const auto text = read_proc_file(path_of(pid, "status"));
  if (!text) return text.error();
  constexpr std::string_view kKey = "\nNSpid:";
  const auto at = text->find(kKey);
  if (at == std::string::npos) return Error{EPROTO, "status", "has no NSpid"};
  std::istringstream line(text->substr(at + kKey.size(), text->find('\n', at + 1) - at));
  return std::vector<pid_t>(std::istream_iterator<pid_t>(line), {});
}

bool has_seccomp_filter(pid_t pid) {
  constexpr int kFilterMode = 2;  // SECCOMP_MODE_FILTER
  const auto mode = number_in_status<int>(pid, "\nSeccomp:\t");
  return mode && *mode == kFilterMode;
}

Result<uid_t> real_uid_of(pid_t pid) { return number_in_status<uid_t>(pid, "\nUid:\t"); }

Result<pid_t> parent_of(pid_t pid) { return number_in_status<pid_t>(pid, "\nPPid:\t"); }

Result<std::vector<std::string>> command_line_of(pid_t pid) {
  const auto text = read_proc_file(path_of(pid, "cmdline"));
  if (!text) return text.error();
  std::vector<std::string> arguments;
  for (std::size_t start = 0; start < text->size();) {
    const auto end = std::min(text->find('\0', start), text->size());
    arguments.push_back(text->substr(start, end - start));
    start = end + 1;
  }
  return arguments;
}

Result<std::string> command_name_of(pid_t pid) {
  auto name = read_proc_file(path_of(pid, "comm"));
  if (!name) return name.error();
  if (!name->empty() && name->back() == '\n') name->pop_back();
  return name;
}

}  // namespace sockhop::sys
