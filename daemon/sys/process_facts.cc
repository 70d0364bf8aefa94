#include "sys/process_facts.h"

#include <unistd.h>

#include <array>
#include <ctime>
#include <string>
#include <string_view>

#include "sys/proc_files.h"

namespace sockhop::sys {

Result<core::ThreadFacts> read_thread_facts(std::int32_t thread) {
  const auto status = read_proc_file("/proc/" + std::to_string(thread) + "/status");
  if (!status) return status.error();
  const auto process = core::process_in_status(*status);
  if (!process) return Error{EPROTO, "status", {}};
  // A thread's own has the thread's start.
  const auto stat = read_proc_file("/proc/" + std::to_string(*process) + "/stat");
  if (!stat) return stat.error();
  const auto facts = core::parse_thread_facts(*status, *stat);
  if (!facts) return Error{EPROTO, "stat", {}};
  return *facts;
}

std::uint64_t ticks_since_boot() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);  // cannot fail for a clock that exists
  const auto ticks = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return static_cast<std::uint64_t>(time.tv_sec) * ticks +
         static_cast<std::uint64_t>(time.tv_nsec) / (1'000'000'000 / ticks);
}

bool is_landlock_ruleset(FdRef fd) {
  constexpr std::string_view kName = "anon_inode:[landlock-ruleset]";  // Linux 5.13
  std::array<char, 64> target{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd.get());
  const ssize_t size = ::readlink(link.c_str(), target.data(), target.size());
  return size > 0 && std::string_view(target.data(), static_cast<std::size_t>(size)) == kName;
}

}  // namespace sockhop::sys
