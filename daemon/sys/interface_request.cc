#include "sys/interface_request.h"

#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

namespace sockhop::sys {
namespace {

constexpr std::size_t kMaxList = 64 * 1024;

struct Conf {
  std::int32_t length;
  std::int32_t padding;
  std::uint64_t address;
};
static_assert(sizeof(Conf) == sizeof(ifconf));

/// The list is written into memory of ours; its place in the caller's is told beside it.
Result<RequestAnswer> list_interfaces(FdRef socket, std::span<std::byte> argument) {
  Conf asked{};
  std::memcpy(&asked, argument.data(), sizeof asked);
  RequestAnswer answer;
  const auto room = std::clamp<std::int64_t>(asked.length, 0, kMaxList);
  std::vector<std::byte> list(static_cast<std::size_t>(room));
  ifconf conf{};
  conf.ifc_len = static_cast<int>(room);
  conf.ifc_buf = asked.address == 0 ? nullptr : reinterpret_cast<char*>(list.data());
  if (::ioctl(socket.get(), SIOCGIFCONF, &conf) < 0) return errno_error("SIOCGIFCONF");
  asked.length = conf.ifc_len;
  std::memcpy(argument.data(), &asked, sizeof asked);
  if (asked.address != 0) {
    list.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(conf.ifc_len, 0, room)));
    answer.list = std::move(list);
    answer.list_address = asked.address;
  }
  return answer;
}

}  // namespace

std::size_t request_size(std::uint32_t request) {
  switch (request) {
    case SIOCGIFCONF:
      return sizeof(ifconf);
    case FIOSETOWN:
    case SIOCSPGRP:
    case FIOGETOWN:
    case SIOCGPGRP:
    case SIOCATMARK:
      return sizeof(int);
    case SIOCGSTAMP_OLD:
    case SIOCGSTAMPNS_OLD:
      return 16;
    default:
      return sizeof(ifreq);
  }
}

bool asks_the_socket(std::uint32_t request) {
  switch (request) {
    case FIOSETOWN:
    case SIOCSPGRP:
    case FIOGETOWN:
    case SIOCGPGRP:
    case SIOCATMARK:
    case SIOCGSTAMP_OLD:
    case SIOCGSTAMPNS_OLD:
      return true;
    default:
      return false;
  }
}

Result<RequestAnswer> ask_socket(FdRef socket, std::uint32_t request,
                                 std::span<std::byte> argument) {
  // An owner set here would be signalled with our rights (fcntl(2), F_SETOWN).
  if (request == FIOSETOWN || request == SIOCSPGRP) return Error{EPERM, "ioctl", {}};
  const int value = ::ioctl(socket.get(), request, argument.data());
  if (value < 0) return errno_error("ioctl");
  RequestAnswer answer;
  answer.value = value;
  return answer;
}

Result<RequestAnswer> ask_interfaces(int family, std::uint32_t request,
                                     std::span<std::byte> argument) {
  const UniqueFd socket(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return errno_error("socket");
  if (request == SIOCGIFCONF) return list_interfaces(socket, argument);
  // Some requests change the namespace: the container's own rights decide them, not ours. Queries
  // are what a socket is asked in practice (netdevice(7)); SIOCS* are refused as without privilege.
  constexpr std::uint32_t kChanges[] = {
      SIOCADDRT,      SIOCDELRT,     SIOCSIFFLAGS, SIOCSIFADDR,   SIOCSIFDSTADDR, SIOCSIFBRDADDR,
      SIOCSIFNETMASK, SIOCSIFMETRIC, SIOCSIFMTU,   SIOCSIFHWADDR, SIOCSIFNAME,    SIOCDIFADDR,
      SIOCADDMULTI,   SIOCDELMULTI,  SIOCSIFMAP,   SIOCSIFTXQLEN, SIOCSARP,       SIOCDARP,
      SIOCBRADDBR,    SIOCBRDELBR,   SIOCBRADDIF,  SIOCBRDELIF,   SIOCETHTOOL,    SIOCSHWTSTAMP};
  if (std::find(std::begin(kChanges), std::end(kChanges), request) != std::end(kChanges)) {
    return Error{EPERM, "ioctl", {}};
  }
  if (request >= SIOCDEVPRIVATE) return Error{EPERM, "ioctl", {}};
  const int value = ::ioctl(socket.get(), request, argument.data());
  if (value < 0) return errno_error("ioctl");
  RequestAnswer answer;
  answer.value = value;
  return answer;
}

}  // namespace sockhop::sys
