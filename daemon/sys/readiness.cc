#include "sys/readiness.h"

#include <poll.h>

#include <array>
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

void wait_readable_for(FdRef fd, int ms) {
  pollfd entry{fd.get(), POLLIN, 0};
  (void)::poll(&entry, 1, ms);
}

bool wait_readable_unless(FdRef fd, FdRef stop) {
  while (true) {
    std::array<pollfd, 2> entries{{{fd.get(), POLLIN, 0}, {stop.get(), POLLIN, 0}}};
    if (::poll(entries.data(), entries.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    if (entries[1].revents != 0) return false;
    if (entries[0].revents != 0) return true;
  }
}

}  // namespace sockhop::sys
