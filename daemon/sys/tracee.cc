#include "sys/tracee.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>

#include "sys/linux_abi.h"

namespace sockhop::sys {
namespace {

/// The value of the line "KEY:\t..." of /proc/TID/status as a number.
Result<std::int64_t> status_number(std::int32_t thread, std::string_view key) {
  const std::string path = "/proc/" + std::to_string(thread) + "/status";
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return errno_error("open", path);
  std::array<char, 1024> text{};
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  if (size < 0) return errno_error("read", path);
  const std::string_view all(text.data(), static_cast<std::size_t>(size));
  const auto at = all.find(key);
  if (at == std::string_view::npos) return Error{ESRCH, "status", path};
  std::int64_t value = 0;
  const char* begin = all.data() + at + key.size();
  if (std::from_chars(begin, all.data() + all.size(), value).ec != std::errc{}) {
    return Error{ESRCH, "status", path};
  }
  return value;
}

class KernelTracee final : public Tracee {
 public:
  KernelTracee(std::int32_t thread, UniqueFd pidfd, std::uint64_t identity)
      : thread_(thread), pidfd_(std::move(pidfd)), identity_(identity) {}

  Result<UniqueFd> borrow(int number) override {
    const long fd = ::syscall(SYS_pidfd_getfd, pidfd_.get(), number, 0);
    if (fd < 0) return errno_error("pidfd_getfd");
    return UniqueFd(static_cast<int>(fd));
  }

  Status read(std::uint64_t address, std::span<std::byte> into) override {
    iovec local{into.data(), into.size()};
    iovec remote{reinterpret_cast<void*>(address), into.size()};
    const ssize_t got = ::process_vm_readv(thread_, &local, 1, &remote, 1, 0);
    if (got < 0) return errno_error("process_vm_readv");
    if (static_cast<std::size_t>(got) != into.size()) return Error{EFAULT, "process_vm_readv", {}};
    return {};
  }

  Result<CallerMemory> open_memory() override { return CallerMemory::open(thread_); }

  std::uint64_t identity() const override { return identity_; }

  Result<std::int32_t> process() override {
    auto value = status_number(thread_, "Tgid:\t");
    if (!value) return value.error();
    return static_cast<std::int32_t>(*value);
  }

 private:
  std::int32_t thread_;
  UniqueFd pidfd_;
  std::uint64_t identity_;
};

}  // namespace

Result<std::unique_ptr<Tracee>> open_tracee(std::int32_t thread, bool by_thread) {
  std::int32_t target = thread;
  if (!by_thread) {
    auto leader = status_number(thread, "Tgid:\t");
    if (!leader) return leader.error();
    target = static_cast<std::int32_t>(*leader);
  }
  const long fd = ::syscall(SYS_pidfd_open, target, by_thread ? PIDFD_THREAD : 0);
  if (fd < 0) return errno_error("pidfd_open");
  UniqueFd pidfd(static_cast<int>(fd));
  // pidfs (6.9) gives each process and thread an inode that is never used again; before it the
  // number is the same for all, and the thread id is what there is.
  struct stat facts {};
  if (::fstat(pidfd.get(), &facts) < 0) return errno_error("fstat");
  const std::uint64_t identity = by_thread ? facts.st_ino : static_cast<std::uint64_t>(thread);
  return std::unique_ptr<Tracee>(
      std::make_unique<KernelTracee>(thread, std::move(pidfd), identity));
}

}  // namespace sockhop::sys
