#include "sys/readiness.h"

#include <poll.h>

#include <cerrno>

namespace sockhop::sys {

Ready poll_now(FdRef fd) {
  pollfd entry{fd.get(), POLLIN, 0};
  if (::poll(&entry, 1, 0) <= 0) return {};
  return {(entry.revents & POLLIN) != 0, (entry.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0};
}

void wait_readable(FdRef fd) {
  pollfd entry{fd.get(), POLLIN, 0};
  while (::poll(&entry, 1, -1) < 0 && errno == EINTR) {
  }
}

}  // namespace sockhop::sys
