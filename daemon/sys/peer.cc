#include "sys/peer.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <string>

#include "sys/linux_abi.h"
#include "sys/netns.h"

namespace sockhop::sys {
namespace {

// A namespace nests at most 32 deep (MAX_PID_NS_LEVEL, pid_namespaces(7)).
constexpr int kMaxDepth = 32;

Result<UniqueFd> open_namespace(pid_t pid, const char* kind) {
  const std::string path = "/proc/" + std::to_string(pid) + "/ns/" + kind;
  UniqueFd ns(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!ns) return errno_error("open", path);
  return ns;
}

Result<std::uint64_t> inode_of(pid_t pid, const char* kind) {
  const auto ns = open_namespace(pid, kind);
  if (!ns) return ns.error();
  return namespace_inode(*ns);
}

// NS_GET_PARENT ends with EPERM at the caller's own pid namespace (ioctl_ns(2)).
Result<std::vector<std::uint64_t>> pid_namespace_line(pid_t pid) {
  auto ns = open_namespace(pid, "pid");
  if (!ns) return ns.error();
  std::vector<std::uint64_t> line;
  UniqueFd current = std::move(*ns);
  for (int depth = 0; current && depth <= kMaxDepth; ++depth) {
    const auto inode = namespace_inode(current);
    if (!inode) return inode.error();
    line.push_back(*inode);
    current = UniqueFd(::ioctl(current.get(), NS_GET_PARENT));
  }
  return line;
}

}  // namespace

Result<Peer> peer_of(FdRef socket) {
  ucred who{};
  socklen_t length = sizeof(who);
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &length) != 0) {
    return errno_error("getsockopt(SO_PEERCRED)");
  }
  int process = -1;
  length = sizeof(process);
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERPIDFD, &process, &length) != 0) {
    process = static_cast<int>(::syscall(SYS_pidfd_open, who.pid, 0));
  }
  return Peer{who.pid, who.uid, UniqueFd(process)};
}

bool still_there(const Peer& peer) {
  if (!peer.process) return false;
  // A pidfd is readable when its process has ended (pidfd_open(2)).
  pollfd ended{peer.process.get(), POLLIN, 0};
  return ::poll(&ended, 1, 0) == 0;
}

Result<UniqueFd> netns_of_peer(FdRef accepted) {
  const auto theirs = netns_cookie_of_socket(accepted);
  const auto own = own_netns_cookie();
  if (theirs && own && *theirs == *own) return open_own_netns();
  return open_netns_of_socket(accepted);
}

Result<core::Namespaces> namespaces_of(pid_t pid) {
  const auto network = inode_of(pid, "net");
  if (!network) return network.error();
  const auto mount = inode_of(pid, "mnt");
  if (!mount) return mount.error();
  auto pids = pid_namespace_line(pid);
  if (!pids) return pids.error();
  return core::Namespaces{*network, *mount, std::move(*pids)};
}

}  // namespace sockhop::sys
