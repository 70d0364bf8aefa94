#include "engine/process_table.h"

#include <algorithm>

#include "sys/clock.h"
#include "sys/epoll_set.h"

namespace sockhop::engine {
namespace {

// Once per process and per epoll_create in it, not per connect: 10,000 descriptors take about 15
// ms.
constexpr std::int64_t kScanBudget = 50'000'000;
// epoll_create is told before the set exists; another thread may be served in between. A scan is
// final when it is so much younger than the last of them.
constexpr std::int64_t kSettled = 100'000'000;

}  // namespace

Result<std::uint64_t> ProcessTable::leader_of(sys::Tracee& tracee) {
  const auto found = leaders_.find(tracee.identity());
  if (found != leaders_.end()) return found->second;
  const auto process = tracee.process();
  if (!process) return process.error();
  const auto leader = sys::open_tracee(*process, true);
  if (!leader) return leader.error();
  if (leaders_.size() >= kMaxProcesses) leaders_.clear();
  return leaders_[tracee.identity()] = (*leader)->identity();
}

ProcessTable::Process* ProcessTable::known(sys::Tracee& tracee) {
  if (!identities_) return nullptr;
  const auto leader = leader_of(tracee);
  if (!leader) return nullptr;
  if (processes_.size() >= kMaxProcesses && !processes_.contains(*leader)) processes_.clear();
  // A new engine does not know what was about to be made.
  const auto [found, is_new] = processes_.try_emplace(*leader);
  if (is_new) found->second.created_at = sys::monotonic_ns();
  return &found->second;
}

Result<std::vector<std::int32_t>> ProcessTable::epoll_sets(std::int32_t thread,
                                                           sys::Tracee& tracee) {
  Process* process = known(tracee);
  if (process != nullptr && process->scanned_at > process->created_at + kSettled) {
    return process->sets;
  }
  const std::int64_t now = sys::monotonic_ns();
  auto sets = sys::find_epoll_sets(thread, kScanBudget);
  if (!sets) return sets.error();
  if (process != nullptr) {
    process->sets = *sets;
    process->scanned_at = now;
  }
  return *sets;
}

void ProcessTable::forget(sys::Tracee& tracee) {
  if (Process* process = known(tracee)) process->scanned_at = 0;
}

void ProcessTable::epoll_created(sys::Tracee& tracee) {
  if (Process* process = known(tracee)) process->created_at = sys::monotonic_ns();
}

}  // namespace sockhop::engine
