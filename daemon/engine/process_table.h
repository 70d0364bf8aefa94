// Which epoll sets a process of the container has: from one scan at its first connect, kept up to
// date by the notified epoll_create and epoll_create1, so that a connect costs no scan.
//
// Bounded: beyond kMaxProcesses everything is forgotten and scanned again. Not seen: a set that
// came by SCM_RIGHTS after the scan, and one made by another process that shares the descriptor
// table (CLONE_FILES without CLONE_THREAD).
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "sys/notify_fd.h"
#include "sys/tracee.h"

namespace sockhop::engine {

class ProcessTable {
 public:
  /// `identities`: Tracee::identity is unique for ever (PIDFD_THREAD). Where it is not, nothing is
  /// remembered and every connect scans.
  explicit ProcessTable(bool identities) : identities_(identities) {}

  /// The numbers of the caller's epoll sets; ETIME when finding them takes too long.
  Result<std::vector<std::int32_t>> epoll_sets(std::int32_t thread, sys::Tracee& tracee);
  /// What was told of the caller is not true any more: it is scanned again.
  void forget(sys::Tracee& tracee);
  /// The caller is about to make a set.
  void epoll_created(sys::Tracee& tracee);

 private:
  struct Process {
    std::vector<std::int32_t> sets;
    std::int64_t scanned_at = 0;  // CLOCK_MONOTONIC ns
    std::int64_t created_at;      // when a set may have been made last
  };
  Process* known(sys::Tracee& tracee);
  Result<std::uint64_t> leader_of(sys::Tracee& tracee);

  static constexpr std::size_t kMaxProcesses = 4096;

  bool identities_;
  std::unordered_map<std::uint64_t, std::uint64_t> leaders_;  // thread identity -> leader identity
  std::unordered_map<std::uint64_t, Process> processes_;      // by leader identity
};

}  // namespace sockhop::engine
