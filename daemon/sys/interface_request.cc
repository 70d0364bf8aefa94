#include "sys/interface_request.h"

#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace sockhop::sys {
namespace {

constexpr std::size_t kMaxList = 64 * 1024;
constexpr std::size_t kNarrowRequest = 32;  // struct compat_ifreq: a union of 16 bytes

/// struct compat_ifconf.
struct NarrowConf {
  std::int32_t length;
  std::uint32_t address;
};

struct Conf {
  std::int32_t length;
  std::int32_t padding;
  std::uint64_t address;
};
static_assert(sizeof(Conf) == sizeof(ifconf));

// netdevice(7), arp(7): what a socket is asked without privilege. SIOCGIFMAP is left out for 32-bit
// callers: its structure holds longs.
constexpr std::uint32_t kQuestions[] = {
    SIOCGIFNAME,   SIOCGIFFLAGS, SIOCGIFADDR,  SIOCGIFDSTADDR, SIOCGIFBRDADDR, SIOCGIFNETMASK,
    SIOCGIFMETRIC, SIOCGIFMEM,   SIOCGIFMTU,   SIOCGIFENCAP,   SIOCGIFHWADDR,  SIOCGIFSLAVE,
    SIOCGIFPFLAGS, SIOCGIFINDEX, SIOCGIFCOUNT, SIOCGIFTXQLEN,  SIOCGIFMAP,     SIOCGIFBR};

bool is_question(SocketRequest request) {
  if (request.narrow && request.number == SIOCGIFMAP) return false;
  return std::find(std::begin(kQuestions), std::end(kQuestions), request.number) !=
         std::end(kQuestions);
}

Conf read_conf(SocketRequest request, std::span<const std::byte> argument) {
  Conf conf{};
  if (!request.narrow) {
    std::memcpy(&conf, argument.data(), sizeof conf);
    return conf;
  }
  NarrowConf narrow{};
  std::memcpy(&narrow, argument.data(), sizeof narrow);
  return {narrow.length, 0, narrow.address};
}

/// Entries as a 32-bit caller knows them: the end of each union is cut off.
std::vector<std::byte> narrowed(std::span<const std::byte> list) {
  std::vector<std::byte> out;
  for (; list.size() >= sizeof(ifreq); list = list.subspan(sizeof(ifreq))) {
    out.insert(out.end(), list.begin(), list.begin() + kNarrowRequest);
  }
  return out;
}

/// The list is written into memory of ours; its place in the caller's is told beside it.
Result<RequestAnswer> list_interfaces(FdRef socket, SocketRequest request,
                                      std::span<std::byte> argument) {
  const Conf asked = read_conf(request, argument);
  const std::size_t entry = request.narrow ? kNarrowRequest : sizeof(ifreq);
  const auto count = static_cast<std::size_t>(std::max(asked.length, 0)) / entry;
  const std::size_t room = std::min(count * sizeof(ifreq), kMaxList);
  std::vector<std::byte> list(room);
  ifconf conf{};
  conf.ifc_len = static_cast<int>(room);
  conf.ifc_buf = asked.address == 0 ? nullptr : reinterpret_cast<char*>(list.data());
  if (::ioctl(socket.get(), SIOCGIFCONF, &conf) < 0) return errno_error("SIOCGIFCONF");
  const auto used = static_cast<std::size_t>(std::max(conf.ifc_len, 0));
  const auto length = static_cast<std::int32_t>(used / sizeof(ifreq) * entry);
  std::memcpy(argument.data(), &length, sizeof length);
  RequestAnswer answer;
  if (asked.address != 0) {
    list.resize(std::min(used, room));
    answer.list = request.narrow ? narrowed(list) : std::move(list);
    answer.list_address = asked.address;
  }
  return answer;
}

std::size_t size_of_question(SocketRequest request) {
  if (request.number == SIOCGIFCONF) return request.narrow ? sizeof(NarrowConf) : sizeof(Conf);
  if (!is_question(request)) return 0;
  return request.narrow ? kNarrowRequest : sizeof(ifreq);
}

}  // namespace

std::size_t request_size(SocketRequest request) {
  switch (request.number) {
    case FIOSETOWN:
    case SIOCSPGRP:
    case FIOGETOWN:
    case SIOCGPGRP:
    case SIOCATMARK:
      return sizeof(int);
    case SIOCGSTAMP_OLD:
    case SIOCGSTAMPNS_OLD:
      return request.narrow ? 2 * sizeof(std::int32_t) : 2 * sizeof(std::int64_t);
    default:
      return size_of_question(request);
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

Result<RequestAnswer> ask_socket(FdRef socket, SocketRequest request,
                                 std::span<std::byte> argument) {
  // An owner set here would be signalled with our rights (fcntl(2), F_SETOWN).
  if (request.number == FIOSETOWN || request.number == SIOCSPGRP) return Error{EPERM, "ioctl", {}};
  std::array<std::int64_t, 2> room{};
  const int value = ::ioctl(socket.get(), request.number, room.data());
  if (value < 0) return errno_error("ioctl");
  if (request.narrow && argument.size() == 2 * sizeof(std::int32_t)) {
    const std::array<std::int32_t, 2> narrow{static_cast<std::int32_t>(room[0]),
                                             static_cast<std::int32_t>(room[1])};
    std::memcpy(argument.data(), narrow.data(), argument.size());
  } else {
    std::memcpy(argument.data(), room.data(), std::min(argument.size(), sizeof room));
  }
  RequestAnswer answer;
  answer.value = value;
  return answer;
}

Result<RequestAnswer> ask_interfaces(int family, SocketRequest request,
                                     std::span<std::byte> argument) {
  const bool lists = request.number == SIOCGIFCONF;
  if (!lists && !is_question(request)) return Error{EPERM, "ioctl", {}};
  const UniqueFd socket(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return errno_error("socket");
  if (lists) return list_interfaces(socket, request, argument);
  std::array<std::byte, sizeof(ifreq)> room{};
  std::memcpy(room.data(), argument.data(), std::min(argument.size(), room.size()));
  const int value = ::ioctl(socket.get(), request.number, room.data());
  if (value < 0) return errno_error("ioctl");
  std::memcpy(argument.data(), room.data(), std::min(argument.size(), room.size()));
  RequestAnswer answer;
  answer.value = value;
  return answer;
}

}  // namespace sockhop::sys
