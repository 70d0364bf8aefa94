#include "sys/tap_owner.h"

#include <dirent.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <memory>
#include <optional>

#include "base/unique_fd.h"
#include "sys/netns.h"
#include "sys/proc_files.h"

namespace sockhop::sys {
namespace {

// Numbers of the descriptors whose fdinfo names an interface ("iff:", drivers/net/tun.c).
Result<std::vector<int>> tap_numbers(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder.c_str()), &::closedir);
  if (!directory) return errno_error("opendir", folder);
  std::vector<int> numbers;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    int number = -1;
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (number < 0) continue;
    const auto info = read_proc_file(folder + "/" + entry->d_name);
    if (info && info->find("iff:") != std::string::npos) numbers.push_back(number);
  }
  return numbers;
}

Result<HeldTap> look_at(FdRef tap) {
  ifreq request{};
  if (::ioctl(tap.get(), TUNGETIFF, &request) != 0) return errno_error("ioctl(TUNGETIFF)");
  const auto netns = open_netns_of_socket(tap);
  if (!netns) return netns.error();
  const auto inode = namespace_inode(*netns);
  if (!inode) return inode.error();
  return HeldTap{request.ifr_name, *inode};
}

}  // namespace

Result<std::vector<HeldTap>> taps_held_by(pid_t pid) {
  const auto numbers = tap_numbers("/proc/" + std::to_string(pid) + "/fdinfo");
  if (!numbers) return numbers.error();
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return errno_error("pidfd_open");
  std::vector<HeldTap> taps;
  for (const int number : *numbers) {
    const UniqueFd copy(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), number, 0)));
    if (!copy) return errno_error("pidfd_getfd");
    if (const auto tap = look_at(copy)) taps.push_back(*tap);
  }
  return taps;
}

}  // namespace sockhop::sys
