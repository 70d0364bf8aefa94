// The three things we do with epoll sets: see who watches a socket, carry a registration over to
// the socket that takes its place, and learn whether a descriptor was the last reference to its
// file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "core/epoll_info.h"
#include "sys/worker_thread.h"

namespace sockhop::sys {

enum class EpollWatch { yes, no, no_such_set };

/// Does the epoll set `set` of the process of `thread` watch our file `file` under `number`?
/// kcmp(2), KCMP_EPOLL_TFD.
EpollWatch watched_by(std::int32_t thread, int set, FdRef file, int number);

/// fdinfo of an epoll set of the process of `thread`; E2BIG over 1 MiB.
Result<std::string> read_fdinfo(std::int32_t thread, int number);

/// The numbers of a process's epoll sets, by reading the links of its descriptors. ETIME when that
/// takes longer than `budget_ns`: one link costs 1 to 3 us.
Result<std::vector<int>> find_epoll_sets(std::int32_t thread, std::int64_t budget_ns);

/// The numbers of a process's descriptors that are the socket with inode `inode`; ETIME likewise.
Result<std::vector<int>> find_socket(std::int32_t thread, std::uint64_t inode,
                                     std::int64_t budget_ns);

/// Changes epoll sets of a container under the container's own descriptor numbers, which takes a
/// thread with an own, empty descriptor table.
class RegistrationThread {
 public:
  static Result<std::unique_ptr<RegistrationThread>> start();

  /// Adds `socket` to `set` as `registration` says. EEXIST is success: a crash may have come
  /// between.
  Status add(FdRef set, FdRef socket, const core::EpollRegistration& registration);
  /// The same, after removing `from` from under the same number; ENOENT there is success.
  Status move(FdRef set, FdRef from, FdRef to, const core::EpollRegistration& registration);

 private:
  RegistrationThread() = default;
  /// Runs on the thread. Numbers below zero mean none.
  Status change_there(int set, int from, int to, const core::EpollRegistration& registration);

  std::unique_ptr<WorkerThread> worker_;
  int self_ = -1;  // pidfd of this process, a number of the thread's own table
};

/// Learns whether a copy of ours is the last reference to a file: an epoll registration holds no
/// reference and goes with the file's last one (epoll(7)), so it is gone once the copy is closed.
class LastReference {
 public:
  static Result<LastReference> open();

  /// Starts to watch the file of `copy`. One at a time.
  Status watch(FdRef copy);
  /// After every copy of ours is closed: is the file gone?
  [[nodiscard]] bool gone();

 private:
  LastReference(UniqueFd set, UniqueFd info) : set_(std::move(set)), info_(std::move(info)) {}
  UniqueFd set_;
  UniqueFd info_;  // /proc/self/fdinfo of it, read again and again
};

/// Waits for sockets without holding them: registrations of files that others own.
class WaitSet {
 public:
  static Result<WaitSet> open();
  /// Readable when take() has something.
  [[nodiscard]] FdRef fd() const { return set_; }
  /// One event at most (EPOLLONESHOT), tagged `key`. Works again for a file that is there already.
  Status watch(FdRef file, std::uint32_t events, std::uint64_t key);
  Status forget(FdRef file);
  struct Event {
    std::uint64_t key;
    std::uint32_t events;
  };
  /// What has happened, without waiting.
  std::vector<Event> take();

 private:
  explicit WaitSet(UniqueFd set) : set_(std::move(set)) {}
  UniqueFd set_;
};

}  // namespace sockhop::sys
