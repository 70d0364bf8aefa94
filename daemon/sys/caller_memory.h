// Writing into the memory of another process as the kernel would write for it.
//
// /proc/PID/mem names the memory itself, whatever becomes of the process id, but it writes where
// the process may not (FOLL_FORCE, proc_pid_mem(5)). So the process's own map is asked first,
// through a file that was opened at the same time and names the same memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "base/unique_fd.h"

namespace sockhop::sys {

/// One mapping of a process.
struct MappedArea {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool writable = false;
};

/// The area that holds `address`, or the first after it; none: there is no such.
/// By PROCMAP_QUERY (6.11); Error ENOTTY before that.
Result<std::optional<MappedArea>> ask_area(FdRef maps, std::uint64_t address);
/// The same by reading /proc/PID/maps.
Result<std::optional<MappedArea>> find_area(FdRef maps, std::uint64_t address);

class CallerMemory {
 public:
  /// Whoever writes asks whether the thread is still the caller after this and before the write.
  static Result<CallerMemory> open(std::int32_t thread);
  /// EFAULT when the process could not have written all of it; what comes before is written then,
  /// as the kernel does it.
  [[nodiscard]] Status write(std::uint64_t address, std::span<const std::byte> bytes) const;

 private:
  CallerMemory(UniqueFd memory, UniqueFd maps)
      : memory_(std::move(memory)), maps_(std::move(maps)) {}
  [[nodiscard]] std::size_t writable_part(std::uint64_t address, std::size_t size) const;
  UniqueFd memory_;
  UniqueFd maps_;
};

}  // namespace sockhop::sys
