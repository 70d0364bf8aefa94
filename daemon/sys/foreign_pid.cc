#include "sys/foreign_pid.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "sys/peer.h"
#include "sys/proc_files.h"

namespace sockhop::sys {
namespace {

// nested_pids_of() begins with the outermost namespace, Namespaces::pids with the innermost one.
bool is_in(pid_t candidate, pid_t wanted, std::uint64_t pid_namespace) {
  const auto numbers = nested_pids_of(candidate);
  if (!numbers || std::find(numbers->begin(), numbers->end(), wanted) == numbers->end()) {
    return false;
  }
  const auto namespaces = namespaces_of(candidate);
  if (!namespaces) return false;
  const auto& line = namespaces->pids;
  const auto level = std::find(line.begin(), line.end(), pid_namespace) - line.begin();
  const auto count = static_cast<std::ptrdiff_t>(numbers->size());
  return level < count && level < static_cast<std::ptrdiff_t>(line.size()) &&
         (*numbers)[static_cast<std::size_t>(count - 1 - level)] == wanted;
}

bool is_anywhere(pid_t candidate, pid_t wanted) {
  const auto numbers = nested_pids_of(candidate);
  return numbers && std::find(numbers->begin(), numbers->end(), wanted) != numbers->end() &&
         has_seccomp_filter(candidate);
}

}  // namespace

Result<pid_t> find_foreign_pid(std::int64_t pid, std::optional<std::uint64_t> pid_namespace) {
  const Error none{
      ESRCH, "pid",
      "no process is seen that has pid " + std::to_string(pid) + " where the runtime runs"};
  if (pid <= 0 || pid > std::numeric_limits<pid_t>::max()) return none;
  const auto wanted = static_cast<pid_t>(pid);
  if (pid_namespace) {
    const auto own = namespaces_of(::getpid());
    if (own && !own->pids.empty() && own->pids.front() == *pid_namespace) return wanted;
  } else if (has_seccomp_filter(wanted)) {
    return wanted;
  }
  auto found = all_processes();
  if (!found) return found.error();
  std::erase_if(*found, [&](pid_t candidate) {
    return pid_namespace ? !is_in(candidate, wanted, *pid_namespace)
                         : !is_anywhere(candidate, wanted);
  });
  if (found->size() != 1) return none;
  return found->front();
}

bool begins_pid_namespace(pid_t pid) {
  const auto numbers = nested_pids_of(pid);
  return numbers && numbers->size() > 1 && numbers->back() == 1;
}

}  // namespace sockhop::sys
