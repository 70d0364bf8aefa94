#include "sys/daemon_probe.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "sys/clock.h"
#include "sys/unix_socket.h"

namespace sockhop::sys {

Status probe_daemon(const RuntimeDir& dir, std::chrono::milliseconds patience) {
  const std::int64_t deadline = monotonic_ns() + patience.count() * 1'000'000;
  // A connection to this one may end without a message: the daemon takes no notice.
  if (auto notify = connect_unix(dir.seccomp_socket(), SocketKind::stream); !notify) {
    return notify.error();
  }
  const auto control = connect_unix(dir.control_socket(), SocketKind::stream);
  if (!control) return control.error();
  while (true) {
    const std::int64_t left = deadline - monotonic_ns();
    if (left <= 0) return Error{ETIMEDOUT, "sockhopd", dir.control_socket()};
    pollfd waiting{control->get(), POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>(left / 1'000'000) + 1) <= 0) continue;
    char first = 0;
    const ssize_t got = ::read(control->get(), &first, 1);
    if (got == 1) return {};
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    return Error{ECONNRESET, "sockhopd", dir.control_socket()};
  }
}

}  // namespace sockhop::sys
