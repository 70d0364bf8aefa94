#include "sys/netns.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <string>

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

namespace sockhop::sys {
namespace {

Result<UniqueFd> open_namespace(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return errno_error("open", path);
  return fd;
}

}  // namespace

Result<UniqueFd> open_netns_of_process(pid_t pid) {
  return open_namespace("/proc/" + std::to_string(pid) + "/ns/net");
}

Result<UniqueFd> open_own_netns() { return open_namespace("/proc/thread-self/ns/net"); }

Result<UniqueFd> open_netns_of_socket(FdRef socket) {
  UniqueFd fd(::ioctl(socket.get(), SIOCGSKNS));
  if (!fd) return errno_error("ioctl(SIOCGSKNS)");
  return fd;
}

Result<UniqueFd> open_owner_userns(FdRef netns) {
  UniqueFd fd(::ioctl(netns.get(), NS_GET_USERNS));
  if (!fd) return errno_error("ioctl(NS_GET_USERNS)");
  return fd;
}

Result<std::uint64_t> namespace_inode(FdRef ns) {
  struct stat facts {};
  if (::fstat(ns.get(), &facts) != 0) return errno_error("fstat");
  return facts.st_ino;
}

Result<std::uint64_t> netns_cookie_of_socket(FdRef socket) {
  std::uint64_t cookie = 0;
  socklen_t length = sizeof cookie;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &length) != 0) {
    return errno_error("getsockopt(SO_NETNS_COOKIE)");
  }
  return cookie;
}

Result<std::uint64_t> own_netns_cookie() {
  const UniqueFd probe(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!probe) return errno_error("socket(AF_UNIX)");
  return netns_cookie_of_socket(probe);
}

Status enter_netns(FdRef netns) {
  if (::setns(netns.get(), CLONE_NEWNET) != 0) return errno_error("setns");
  return {};
}

}  // namespace sockhop::sys
