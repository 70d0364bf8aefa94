#include "engine/process_table.h"

#include <algorithm>

#include "sys/epoll_set.h"

namespace sockhop::engine {
namespace {

// Once per process and per epoll_create in it, not per connect: 10,000 descriptors take about 15
// ms.
constexpr std::int64_t kScanBudget = 50'000'000;

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
  return &processes_[*leader];
}

Result<std::vector<std::int32_t>> ProcessTable::epoll_sets(std::int32_t thread,
                                                           sys::Tracee& tracee) {
  Process* process = known(tracee);
  if (process != nullptr && process->scanned) return process->sets;
  auto sets = sys::find_epoll_sets(thread, kScanBudget);
  if (!sets) return sets.error();
  if (process != nullptr) *process = {*sets, true};
  return *sets;
}

void ProcessTable::forget_set(sys::Tracee& tracee, std::int32_t set) {
  if (Process* process = known(tracee)) std::erase(process->sets, set);
}

void ProcessTable::epoll_created(sys::Tracee& tracee) {
  if (Process* process = known(tracee)) process->scanned = false;
}

}  // namespace sockhop::engine
