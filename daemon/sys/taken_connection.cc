#include "sys/taken_connection.h"

#include <dirent.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>

#include "sys/socket_query.h"

namespace sockhop::sys {
namespace {

struct DirCloser {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

bool is_connection(FdRef fd) {
  const int domain = socket_domain(fd);
  if (domain != AF_INET && domain != AF_INET6) return false;
  // Reset meanwhile it is in state close, but keeps its name.
  if (tcp_state(fd) == core::TcpState::listen) return false;
  const auto local = local_name(fd);
  int type = 0;
  socklen_t size = sizeof type;
  return local && local->port != 0 &&
         ::getsockopt(fd.get(), SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

/// A call for which nothing was taken waits like any other, so that what is taken for the next one
/// is not looked for under its name.
void let_wait(SessionMemory& memory) {
  for (std::size_t i = 0; i < memory.used_slots; ++i) {
    CallSlot& slot = memory.slots[i];
    if (slot.stage == CallStage::taking && slot.host_fd < 0) slot.stage = CallStage::accepting;
  }
}

Status find_for(SessionMemory& memory, CallSlot& slot) {
  const std::unique_ptr<DIR, DirCloser> dir(::opendir("/proc/self/fd"));
  if (!dir) return errno_error("opendir", "/proc/self/fd");
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string_view name(entry->d_name);
    int fd = -1;
    if (std::from_chars(name.data(), name.data() + name.size(), fd).ec != std::errc{}) continue;
    if (fd <= 2 || is_named(memory, fd) || !is_connection(FdRef::from_number(fd))) continue;
    slot.host_fd = fd;
    return {};
  }
  return {};
}

}  // namespace

Status find_taken_connection(SessionMemory& memory) {
  auto* end = memory.slots.begin() + memory.used_slots;
  auto* slot = std::find_if(memory.slots.begin(), end, [](const CallSlot& one) {
    return one.stage == CallStage::taking && one.host_fd < 0;
  });
  if (slot == end) return {};
  const auto found = find_for(memory, *slot);
  let_wait(memory);
  return found;
}

}  // namespace sockhop::sys
