#include "sys/socket_options.h"

#include <linux/in6.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/time.h>

#include <cstring>
#include <span>
#include <utility>

#include "sys/linux_abi.h"

namespace sockhop::sys {
namespace {

constexpr std::size_t kMaxOption = 16;  // TCP_CONGESTION and struct timeval are the longest
using Value = std::array<std::byte, kMaxOption>;

#define SOCKHOP_OPTION(level, name, size) \
  CarriedOption { level, name, size, #name, Carriage::both_ways }
#define SOCKHOP_FORTH(level, name, size) \
  CarriedOption { level, name, size, #name, Carriage::forth }
#define SOCKHOP_BACK(level, name, size) \
  CarriedOption { level, name, size, #name, Carriage::back }

// socket(7), ip(7), ipv6(7), tcp(7). Buffer sizes are handled apart: SO_BUF_LOCK says whether they
// were set. Order matters only where one option limits another (TCP_CORK after TCP_NODELAY).
constexpr CarriedOption kCarried[] = {
    SOCKHOP_OPTION(SOL_SOCKET, SO_KEEPALIVE, 4),
    SOCKHOP_OPTION(SOL_SOCKET, SO_LINGER, sizeof(linger)),
    SOCKHOP_OPTION(SOL_SOCKET, SO_OOBINLINE, 4),
    SOCKHOP_OPTION(SOL_SOCKET, SO_RCVTIMEO, sizeof(timeval)),
    SOCKHOP_OPTION(SOL_SOCKET, SO_SNDTIMEO, sizeof(timeval)),
    SOCKHOP_OPTION(SOL_SOCKET, SO_RCVLOWAT, 4),
    SOCKHOP_OPTION(SOL_SOCKET, SO_PRIORITY, 4),
    SOCKHOP_OPTION(SOL_SOCKET, SO_BROADCAST, 4),
    SOCKHOP_OPTION(SOL_SOCKET, SO_DONTROUTE, 4),
    SOCKHOP_OPTION(SOL_SOCKET, SO_TIMESTAMP, 4),
    SOCKHOP_OPTION(SOL_SOCKET, SO_TIMESTAMPNS, 4),
    SOCKHOP_OPTION(SOL_SOCKET, SO_ZEROCOPY, 4),
    SOCKHOP_OPTION(SOL_SOCKET, SO_MAX_PACING_RATE, 8),
    SOCKHOP_OPTION(SOL_SOCKET, SO_NO_CHECK, 4),
    SOCKHOP_OPTION(SOL_SOCKET, SO_TIMESTAMP_NEW, 4),
    SOCKHOP_OPTION(SOL_SOCKET, SO_TIMESTAMPNS_NEW, 4),
    SOCKHOP_OPTION(SOL_SOCKET, SO_TIMESTAMPING_OLD, 8),  // struct so_timestamping
    SOCKHOP_OPTION(SOL_SOCKET, SO_TIMESTAMPING_NEW, 8),
    SOCKHOP_OPTION(SOL_SOCKET, SO_RXQ_OVFL, 4),
    SOCKHOP_OPTION(SOL_SOCKET, SO_WIFI_STATUS, 4),
    SOCKHOP_OPTION(SOL_SOCKET, SO_PEEK_OFF, 4),
    SOCKHOP_OPTION(SOL_SOCKET, SO_NOFCS, 4),
    SOCKHOP_OPTION(SOL_SOCKET, SO_LOCK_FILTER, 4),
    SOCKHOP_OPTION(SOL_SOCKET, SO_SELECT_ERR_QUEUE, 4),
    SOCKHOP_OPTION(SOL_SOCKET, SO_BUSY_POLL, 4),
    SOCKHOP_OPTION(SOL_SOCKET, SO_TXTIME, 8),  // struct sock_txtime
    SOCKHOP_OPTION(SOL_SOCKET, SO_TXREHASH, 4),
    SOCKHOP_OPTION(SOL_SOCKET, SO_RCVMARK, 4),
    SOCKHOP_OPTION(SOL_SOCKET, SO_RCVPRIORITY, 4),
    SOCKHOP_OPTION(IPPROTO_IP, IP_TOS, 4),
    SOCKHOP_OPTION(IPPROTO_IP, IP_TTL, 4),
    SOCKHOP_OPTION(IPPROTO_IP, IP_MTU_DISCOVER, 4),
    SOCKHOP_OPTION(IPPROTO_IP, IP_RECVTOS, 4),
    SOCKHOP_OPTION(IPPROTO_IP, IP_RECVTTL, 4),
    SOCKHOP_OPTION(IPPROTO_IP, IP_RECVERR, 4),
    SOCKHOP_OPTION(IPPROTO_IP, IP_RECVERR_RFC4884, 4),
    SOCKHOP_OPTION(IPPROTO_IP, IP_RECVOPTS, 4),
    SOCKHOP_OPTION(IPPROTO_IP, IP_RETOPTS, 4),
    SOCKHOP_OPTION(IPPROTO_IP, IP_PASSSEC, 4),
    SOCKHOP_OPTION(IPPROTO_IP, IP_RECVORIGDSTADDR, 4),
    SOCKHOP_OPTION(IPPROTO_IP, IP_CHECKSUM, 4),
    SOCKHOP_OPTION(IPPROTO_IP, IP_MULTICAST_LOOP, 4),
    SOCKHOP_OPTION(IPPROTO_IP, IP_MULTICAST_ALL, 4),
    SOCKHOP_OPTION(IPPROTO_IP, IP_PKTINFO, 4),
    SOCKHOP_OPTION(IPPROTO_IP, IP_MINTTL, 4),
    SOCKHOP_OPTION(IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 4),
    SOCKHOP_OPTION(IPPROTO_IP, IP_LOCAL_PORT_RANGE, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_V6ONLY, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_TCLASS, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_UNICAST_HOPS, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_MTU_DISCOVER, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_RECVERR, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_RECVERR_RFC4884, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_2292PKTINFO, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_2292HOPOPTS, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_2292DSTOPTS, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_2292RTHDR, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_2292HOPLIMIT, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_FLOWINFO, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_MULTICAST_ALL, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_ROUTER_ALERT_ISOLATE, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_RECVHOPOPTS, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_RECVRTHDR, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_RECVDSTOPTS, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_RECVPATHMTU, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_RECVORIGDSTADDR, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_RECVFRAGSIZE, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_ADDR_PREFERENCES, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_RECVPKTINFO, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_RECVTCLASS, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_AUTOFLOWLABEL, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_MINHOPCOUNT, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_DONTFRAG, 4),
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_NODELAY, 4),
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_CORK, 4),
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_KEEPIDLE, 4),
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_KEEPINTVL, 4),
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_KEEPCNT, 4),
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_SYNCNT, 4),
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_LINGER2, 4),
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_WINDOW_CLAMP, 4),
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_QUICKACK, 4),
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_CONGESTION, 16),
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_USER_TIMEOUT, 4),
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_NOTSENT_LOWAT, 4),
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_SAVE_SYN, 4),
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_INQ, 4),
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_DEFER_ACCEPT, 4),
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, 4),
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, 4),
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_TX_DELAY, 4),
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_RTO_MAX_MS, 4),
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_RTO_MIN_US, 4),
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_DELACK_MAX_US, 4),
    // Only a socket that is closed or listens takes it.
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_FASTOPEN, 4),
    // Of a socket that was connected it shows what the path left of it.
    SOCKHOP_FORTH(IPPROTO_TCP, TCP_MAXSEG, 4),
    // Before its connect() somebody else could bind the port of a host socket that has these.
    SOCKHOP_BACK(SOL_SOCKET, SO_REUSEADDR, 4),
    SOCKHOP_BACK(SOL_SOCKET, SO_REUSEPORT, 4),
};

// Not zero means: a host socket could not have it, or it would mean something else there.
constexpr CarriedOption kMakesItStay[] = {
    SOCKHOP_OPTION(SOL_SOCKET, SO_MARK, 4),
    SOCKHOP_OPTION(SOL_SOCKET, SO_BINDTOIFINDEX, 4),
    SOCKHOP_OPTION(IPPROTO_IP, IP_TRANSPARENT, 4),
    SOCKHOP_OPTION(IPPROTO_IP, IP_FREEBIND, 4),
    SOCKHOP_OPTION(IPPROTO_IP, IP_UNICAST_IF, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_UNICAST_IF, 4),
    SOCKHOP_OPTION(IPPROTO_IPV6, IPV6_FLOWINFO_SEND, 4),
    SOCKHOP_OPTION(IPPROTO_TCP, TCP_REPAIR, 4),
};

#undef SOCKHOP_OPTION
#undef SOCKHOP_FORTH
#undef SOCKHOP_BACK

constexpr std::size_t kCount = std::size(kCarried);

bool applies(const CarriedOption& option, int family) {
  return option.level != IPPROTO_IPV6 || family == AF_INET6;
}

bool read_option(FdRef fd, const CarriedOption& option, Value& value) {
  value.fill(std::byte{0});
  socklen_t size = static_cast<socklen_t>(option.size);
  return ::getsockopt(fd.get(), option.level, option.name, value.data(), &size) == 0;
}

/// A socket filter is seen by its length: SO_GET_FILTER answers with the number of instructions.
bool has_filter(FdRef fd) {
  socklen_t size = 0;
  return ::getsockopt(fd.get(), SOL_SOCKET, SO_GET_FILTER, nullptr, &size) == 0 && size > 0;
}

/// IP_OPTIONS and TCP_ULP: a length says that they are in use.
bool has_length(FdRef fd, int level, int name) {
  std::array<std::byte, 64> room{};
  socklen_t size = room.size();
  return ::getsockopt(fd.get(), level, name, room.data(), &size) == 0 && size > 0;
}

bool must_stay(FdRef source, int family) {
  for (const CarriedOption& option : kMakesItStay) {
    Value value;
    if (applies(option, family) && read_option(source, option, value) && value != Value{})
      return true;
  }
  return has_filter(source) || has_length(source, IPPROTO_IP, IP_OPTIONS) ||
         has_length(source, IPPROTO_TCP, TCP_ULP);
}

Status set_option(FdRef target, const CarriedOption& option, const Value& value) {
  if (::setsockopt(target.get(), option.level, option.name, value.data(),
                   static_cast<socklen_t>(option.size)) < 0) {
    return Error{ENOPROTOOPT, "setsockopt", option.text};
  }
  return {};
}

/// The kernel doubles what is set and shows the double (socket(7)); half of it was asked for.
Status carry_buffer(FdRef source, FdRef target, int name) {
  int size = 0;
  socklen_t length = sizeof size;
  if (::getsockopt(source.get(), SOL_SOCKET, name, &size, &length) < 0)
    return errno_error("getsockopt");
  size /= 2;
  if (::setsockopt(target.get(), SOL_SOCKET, name, &size, sizeof size) < 0) {
    return Error{ENOPROTOOPT, "setsockopt", "buffer size"};
  }
  return {};
}

Status carry_buffers(FdRef source, FdRef target) {
  constexpr int kSend = 1, kReceive = 2;  // SOCK_SNDBUF_LOCK, SOCK_RCVBUF_LOCK
  int locked = 0;
  socklen_t length = sizeof locked;
  if (::getsockopt(source.get(), SOL_SOCKET, SO_BUF_LOCK, &locked, &length) < 0) {
    return errno_error("SO_BUF_LOCK");
  }
  if (locked & kSend) {
    if (auto done = carry_buffer(source, target, SO_SNDBUF); !done) return done;
  }
  if (locked & kReceive) return carry_buffer(source, target, SO_RCVBUF);
  return {};
}

constexpr std::pair<int, std::uint8_t> kReuse[] = {{SO_REUSEADDR, 1}, {SO_REUSEPORT, 2}};

}  // namespace

struct OptionCarrier::Defaults {
  std::array<Value, kCount> v4;
  std::array<Value, kCount> v6;
  std::array<bool, kCount> known_v4;
  std::array<bool, kCount> known_v6;
};

OptionCarrier::OptionCarrier(std::unique_ptr<Defaults> defaults) : defaults_(std::move(defaults)) {}
OptionCarrier::OptionCarrier(OptionCarrier&&) noexcept = default;
OptionCarrier& OptionCarrier::operator=(OptionCarrier&&) noexcept = default;
OptionCarrier::~OptionCarrier() = default;

Result<OptionCarrier> OptionCarrier::open() {
  auto defaults = std::make_unique<Defaults>();
  for (const int family : {AF_INET, AF_INET6}) {
    UniqueFd fresh(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fresh && family == AF_INET6) continue;  // a host without IPv6
    if (!fresh) return errno_error("socket");
    auto& values = family == AF_INET ? defaults->v4 : defaults->v6;
    auto& known = family == AF_INET ? defaults->known_v4 : defaults->known_v6;
    for (std::size_t i = 0; i < kCount; ++i) {
      known[i] = applies(kCarried[i], family) && read_option(fresh, kCarried[i], values[i]);
    }
  }
  return OptionCarrier(std::move(defaults));
}

Status OptionCarrier::carry(FdRef source, FdRef target, int family) const {
  if (must_stay(source, family)) return Error{ENOPROTOOPT, "options", {}};
  return copy(source, target, family, Carriage::forth);
}

Status OptionCarrier::carry_back(FdRef source, FdRef target, int family) const {
  return copy(source, target, family, Carriage::back);
}

Status OptionCarrier::copy(FdRef source, FdRef target, int family, Carriage way) const {
  const auto& values = family == AF_INET ? defaults_->v4 : defaults_->v6;
  const auto& known = family == AF_INET ? defaults_->known_v4 : defaults_->known_v6;
  for (std::size_t i = 0; i < kCount; ++i) {
    Value value;
    const Carriage carriage = kCarried[i].carriage;
    if (!known[i] || (carriage != Carriage::both_ways && carriage != way)) continue;
    if (!read_option(source, kCarried[i], value) || value == values[i]) continue;
    if (auto done = set_option(target, kCarried[i], value); !done) return done;
  }
  return carry_buffers(source, target);
}

std::uint8_t reuse_of(FdRef socket) {
  std::uint8_t reuse = 0;
  for (const auto& [name, bit] : kReuse) {
    int value = 0;
    socklen_t size = sizeof value;
    if (::getsockopt(socket.get(), SOL_SOCKET, name, &value, &size) == 0 && value != 0)
      reuse |= bit;
  }
  return reuse;
}

void set_reuse(FdRef socket, std::uint8_t reuse) {
  const int on = 1;
  for (const auto& [name, bit] : kReuse) {
    if ((reuse & bit) != 0) ::setsockopt(socket.get(), SOL_SOCKET, name, &on, sizeof on);
  }
}

const CarriedOption* carried_options(std::size_t& count) {
  count = kCount;
  return kCarried;
}

}  // namespace sockhop::sys
