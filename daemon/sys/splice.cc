#include "sys/splice.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sockhop::sys {
namespace {

constexpr std::size_t kMost = std::size_t{1} << 20;

}  // namespace

Result<std::array<UniqueFd, 2>> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) < 0) return errno_error("pipe2");
  return std::array<UniqueFd, 2>{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::size_t bytes_in(FdRef pipe) {
  int count = 0;
  return ::ioctl(pipe.get(), FIONREAD, &count) < 0 ? 0 : static_cast<std::size_t>(count);
}

Result<std::size_t> splice_some(FdRef from, FdRef to) {
  const ssize_t moved =
      ::splice(from.get(), nullptr, to.get(), nullptr, kMost, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  if (moved < 0) return errno_error("splice");
  return static_cast<std::size_t>(moved);
}

Status shut_down_writing(FdRef socket) {
  if (::shutdown(socket.get(), SHUT_WR) < 0) return errno_error("shutdown");
  return {};
}

void reset_on_close(FdRef socket) {
  const linger now{1, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

int take_socket_error(FdRef socket) {
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) < 0 ? errno : error;
}

}  // namespace sockhop::sys
