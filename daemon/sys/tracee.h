// One thread of a container at the moment of a notified call: its descriptors and its memory.
//
// The session stands in a user namespace above the container's, so every uid of the container can
// be inspected, dumpable or not (ptrace(2), access checks). A thread id may be recycled while we
// look: whoever uses what this class read asks still_waiting() after reading, and before writing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sys/caller_memory.h"

namespace sockhop::sys {

class Tracee {
 public:
  virtual ~Tracee() = default;
  /// A copy of the caller's descriptor; EBADF when there is none.
  virtual Result<UniqueFd> borrow(int number) = 0;
  /// Reads all of `into`; EFAULT when any byte cannot be read.
  virtual Status read(std::uint64_t address, std::span<std::byte> into) = 0;
  /// Opens the memory for writing; ask still_waiting() between this and the write.
  virtual Result<CallerMemory> open_memory() = 0;
  /// Names this thread for its whole life: no later thread has the same.
  virtual std::uint64_t identity() const = 0;
  /// The process (thread group) of the thread.
  virtual Result<std::int32_t> process() = 0;
};

/// `by_thread`: PIDFD_THREAD (6.9) names the thread's own descriptor table; without it the thread
/// group's leader is asked, which is the same table but for threads that unshared theirs.
Result<std::unique_ptr<Tracee>> open_tracee(std::int32_t thread, bool by_thread);

}  // namespace sockhop::sys
