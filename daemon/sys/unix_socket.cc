#include "sys/unix_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

namespace sockhop::sys {
namespace {

// As many as the kernel allows: runtimes of a whole host may connect in one moment.
constexpr int kBacklog = 4096;

int type_of(SocketKind kind) {
  return (kind == SocketKind::stream ? SOCK_STREAM : SOCK_SEQPACKET) | SOCK_CLOEXEC | SOCK_NONBLOCK;
}

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return Error{ENAMETOOLONG, "unix socket",
                 path + " has more than 107 bytes; use a shorter XDG_RUNTIME_DIR"};
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

}  // namespace

Result<UniqueFd> listen_unix(const std::string& path, SocketKind kind) {
  const auto address = address_of(path);
  if (!address) return address.error();
  UniqueFd listener(::socket(AF_UNIX, type_of(kind), 0));
  if (!listener) return errno_error("socket", path);
  struct stat found {};
  if (::lstat(path.c_str(), &found) == 0) {
    if (!S_ISSOCK(found.st_mode)) return Error{EEXIST, "bind", path + " is no socket; remove it"};
    ::unlink(path.c_str());
  }
  // fchmod before bind sets the mode the file is made with, so there is no moment of a wider one.
  ::fchmod(listener.get(), 0600);
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) != 0) {
    return errno_error("bind", path);
  }
  if (::listen(listener.get(), kBacklog) != 0) return errno_error("listen", path);
  return listener;
}

Result<UniqueFd> connect_unix(const std::string& path, SocketKind kind) {
  const auto address = address_of(path);
  if (!address) return address.error();
  UniqueFd connection(::socket(AF_UNIX, type_of(kind), 0));
  if (!connection) return errno_error("socket", path);
  if (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) !=
      0) {
    return errno_error("connect", path);
  }
  return connection;
}

Result<UniqueFd> accept_unix(FdRef listener) {
  UniqueFd connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!connection && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
    return errno_error("accept4");
  }
  return connection;
}

Result<std::pair<UniqueFd, UniqueFd>> packet_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    return errno_error("socketpair");
  }
  return std::pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

void remove_socket(const std::string& path) { ::unlink(path.c_str()); }

}  // namespace sockhop::sys
