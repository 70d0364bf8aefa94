#include "sys/fd_facts.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sys/clock.h"
#include "sys/epoll_set.h"
#include "sys/linux_abi.h"
#include "sys/tracee.h"

namespace sockhop::sys {
namespace {

struct DirCloser {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

std::uint64_t pid_namespace_of(std::int32_t process) {
  struct stat facts {};
  const std::string path = "/proc/" + std::to_string(process) + "/ns/pid";
  return ::stat(path.c_str(), &facts) == 0 ? facts.st_ino : 0;
}

std::vector<std::int32_t> processes_of_namespace(std::uint64_t pid_namespace) {
  std::vector<std::int32_t> found;
  const std::unique_ptr<DIR, DirCloser> proc(::opendir("/proc"));
  if (!proc) return found;
  while (const dirent* entry = ::readdir(proc.get())) {
    const std::string_view name(entry->d_name);
    std::int32_t process = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), process).ec != std::errc{})
      continue;
    if (pid_namespace_of(process) == pid_namespace) found.push_back(process);
  }
  return found;
}

}  // namespace

std::uint64_t inode_of(FdRef fd) {
  struct stat facts {};
  return ::fstat(fd.get(), &facts) == 0 ? facts.st_ino : 0;
}

bool closes_on_exec(std::int32_t thread, int number) {
  std::array<char, 64> path{};
  char* end = std::to_chars(std::copy_n("/proc/", 6, path.data()), path.data() + 30, thread).ptr;
  end = std::copy_n("/fdinfo/", 8, end);
  std::to_chars(end, path.data() + path.size() - 1, number);
  const UniqueFd file(::open(path.data(), O_RDONLY | O_CLOEXEC));
  if (!file) return false;
  std::array<char, 128> text{};
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  if (size <= 0) return false;
  const std::string_view all(text.data(), static_cast<std::size_t>(size));
  constexpr std::string_view kKey = "flags:\t";
  const auto at = all.find(kKey);
  if (at == std::string_view::npos) return false;
  unsigned flags = 0;
  std::from_chars(all.data() + at + kKey.size(), all.data() + all.size(), flags, 8);
  return (flags & O_CLOEXEC) != 0;
}

Result<UniqueFd> fetch_socket_from_others(std::int32_t thread, std::uint64_t inode,
                                          std::int64_t budget_ns) {
  const std::int64_t deadline = monotonic_ns() + budget_ns;
  const std::uint64_t pid_namespace = pid_namespace_of(thread);
  if (pid_namespace == 0) return Error{ENOENT, "pid namespace", {}};
  for (const std::int32_t process : processes_of_namespace(pid_namespace)) {
    const std::int64_t left = deadline - monotonic_ns();
    if (left <= 0) return Error{ETIME, "holder scan", {}};
    const auto numbers = find_socket(process, inode, left);
    if (!numbers || numbers->empty()) continue;
    const auto holder = open_tracee(process, false);
    if (!holder) continue;
    auto copy = (*holder)->borrow(numbers->front());
    if (copy && inode_of(*copy) == inode) return copy;
  }
  return Error{ENOENT, "holder scan", {}};
}

}  // namespace sockhop::sys
