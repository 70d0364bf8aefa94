#include "sys/notify_check.h"

#include <poll.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace sockhop::sys {

bool is_notify_fd(FdRef descriptor) {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor.get());
  char target[64];
  const ssize_t length = ::readlink(link.c_str(), target, sizeof(target));
  return length > 0 &&
         std::string_view(target, static_cast<std::size_t>(length)) == "anon_inode:seccomp notify";
}

bool has_hung_up(FdRef notify) {
  pollfd state{notify.get(), 0, 0};
  return ::poll(&state, 1, 0) == 1 && (state.revents & POLLHUP) != 0;
}

}  // namespace sockhop::sys
