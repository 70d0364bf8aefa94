#include "sys/arrival_device.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#ifndef IPV6_2292PKTOPTIONS
#define IPV6_2292PKTOPTIONS 6
#endif

namespace sockhop::sys {
namespace {

constexpr std::size_t kControl = 256;

struct Names {
  int level;
  int report;
  int options;
  int type;
};
Names names_of(int family) {
  if (family == AF_INET6) {
    return {IPPROTO_IPV6, IPV6_RECVPKTINFO, IPV6_2292PKTOPTIONS, IPV6_PKTINFO};
  }
  return {IPPROTO_IP, IP_PKTINFO, IP_PKTOPTIONS, IP_PKTINFO};
}

}  // namespace

Result<int> arrival_device(FdRef accepted, int family) {
  const Names names = names_of(family);
  alignas(cmsghdr) std::array<std::byte, kControl> room;
  socklen_t size = room.size();
  if (::getsockopt(accepted.get(), names.level, names.options, room.data(), &size) < 0) {
    return errno_error("PKTOPTIONS");
  }
  msghdr message{};
  message.msg_control = room.data();
  message.msg_controllen = size;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != names.level || part->cmsg_type != names.type) continue;
    if (family == AF_INET6) {
      in6_pktinfo info{};
      std::memcpy(&info, CMSG_DATA(part), sizeof info);
      return static_cast<int>(info.ipi6_ifindex);
    }
    in_pktinfo info{};
    std::memcpy(&info, CMSG_DATA(part), sizeof info);
    return info.ipi_ifindex;
  }
  return Error{ENODATA, "PKTOPTIONS", {}};
}

int bound_device(FdRef socket) {
  int device = 0;
  socklen_t size = sizeof device;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_BINDTOIFINDEX, &device, &size);
  return device;
}

bool reports_arrivals(FdRef socket, int family) {
  const Names names = names_of(family);
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(socket.get(), names.level, names.report, &value, &size) == 0 && value != 0;
}

void forget_arrival(FdRef accepted, int family) {
  const Names names = names_of(family);
  const int off = 0;
  ::setsockopt(accepted.get(), names.level, names.report, &off, sizeof off);
}

}  // namespace sockhop::sys
