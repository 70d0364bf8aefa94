#include "base/unique_fd.h"

#include <unistd.h>

namespace sockhop {

void UniqueFd::reset() {
  // close(2): the number is gone even when close reports EINTR on Linux; never retry.
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

}  // namespace sockhop
