#include "sys/session_memory.h"

#include <dirent.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

namespace sockhop::sys {
namespace {

struct DirCloser {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

}  // namespace

Result<SessionMemory*> map_session_memory() {
  void* room = ::mmap(nullptr, sizeof(SessionMemory), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return errno_error("mmap");
  // Anonymous memory is zero already: touching a page costs a page.
  return static_cast<SessionMemory*>(room);
}

Result<FdRef> keep_fd(SessionMemory& memory, Kept kind, std::uint64_t key, UniqueFd fd) {
  for (KeptFd& kept : memory.kept) {
    if (kept.kind != Kept::none) continue;
    kept.fd = fd.release();
    kept.key = key;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    kept.kind = kind;
    return FdRef::from_number(kept.fd);
  }
  return Error{ENFILE, "session table", "full"};
}

void drop_kept(SessionMemory& memory, Kept kind, std::uint64_t key) {
  for (KeptFd& kept : memory.kept) {
    if (kept.kind != kind || kept.key != key) continue;
    kept.kind = Kept::none;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    UniqueFd(kept.fd).reset();
  }
}

FdRef kept_fd(const SessionMemory& memory, Kept kind, std::uint64_t key) {
  for (const KeptFd& kept : memory.kept) {
    if (kept.kind == kind && kept.key == key) return FdRef::from_number(kept.fd);
  }
  return FdRef::from_number(-1);
}

bool is_in_slot(const SessionMemory& memory, int fd) {
  const auto* end = memory.slots.begin() + memory.used_slots;
  return std::any_of(memory.slots.begin(), end, [fd](const CallSlot& slot) {
    return slot.stage != CallStage::idle && (slot.host_fd == fd || slot.original_fd == fd);
  });
}

bool is_named(const SessionMemory& memory, int fd) {
  for (const KeptFd& kept : memory.kept) {
    if (kept.kind != Kept::none && kept.fd == fd) return true;
  }
  return is_in_slot(memory, fd);
}

Status close_unnamed(const SessionMemory& memory) {
  const std::unique_ptr<DIR, DirCloser> dir(::opendir("/proc/self/fd"));
  if (!dir) return errno_error("opendir", "/proc/self/fd");
  std::vector<UniqueFd> unnamed;
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string_view name(entry->d_name);
    int fd = -1;
    if (std::from_chars(name.data(), name.data() + name.size(), fd).ec != std::errc{}) continue;
    if (fd > 2 && fd != ::dirfd(dir.get()) && !is_named(memory, fd)) unnamed.emplace_back(fd);
  }
  return {};
}

}  // namespace sockhop::sys
