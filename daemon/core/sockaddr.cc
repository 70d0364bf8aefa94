#include "core/sockaddr.h"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace sockhop::core {
namespace {

// linux/in6.h: an address without sin6_scope_id, as RFC 2133 had it.
constexpr std::size_t kSin6LenRfc2133 = 24;
static_assert(sizeof(sockaddr_in) == 16);
static_assert(sizeof(sockaddr_in6) == 28);
static_assert(sizeof(sockaddr_storage) == kMaxSockaddr);

std::array<std::uint8_t, 4> last_four(const Address& address) {
  return {address.bytes[12], address.bytes[13], address.bytes[14], address.bytes[15]};
}

template <class T>
std::vector<std::byte> bytes_of(const T& name) {
  const auto bytes = std::as_bytes(std::span(&name, 1));
  return {bytes.begin(), bytes.end()};
}

ParsedSockaddr parse_v4(std::span<const std::byte> bytes) {
  sockaddr_in name{};
  if (bytes.size() < sizeof name) return TooShort{};
  std::memcpy(&name, bytes.data(), sizeof name);
  std::array<std::uint8_t, 4> ip{};
  std::memcpy(ip.data(), &name.sin_addr, ip.size());
  return InetName{
      {.address = Address::v4(ip[0], ip[1], ip[2], ip[3]), .port = ntohs(name.sin_port)}, AF_INET};
}

ParsedSockaddr parse_v6(std::span<const std::byte> bytes) {
  sockaddr_in6 name{};
  if (bytes.size() < kSin6LenRfc2133) return TooShort{};
  // ipv6(7): the scope counts only in a whole sockaddr_in6; part of one is no scope.
  const bool whole = bytes.size() >= sizeof name;
  std::memcpy(&name, bytes.data(), whole ? sizeof name : kSin6LenRfc2133);
  Endpoint endpoint{.address = {}, .port = ntohs(name.sin6_port)};
  std::memcpy(endpoint.address.bytes.data(), &name.sin6_addr, endpoint.address.bytes.size());
  // The kernel looks at the scope of link-local addresses only (ipv6(7)); anywhere else it would
  // give one destination many spellings.
  if (endpoint.address.is_link_local() && !endpoint.address.is_v4()) {
    endpoint.scope_id = name.sin6_scope_id;
  }
  return InetName{endpoint, AF_INET6};
}

}  // namespace

ParsedSockaddr parse_sockaddr(std::span<const std::byte> bytes) {
  sa_family_t family = AF_UNSPEC;
  if (bytes.size() < sizeof family) return TooShort{};
  std::memcpy(&family, bytes.data(), sizeof family);
  switch (family) {
    case AF_UNSPEC:
      return Disconnect{};
    case AF_INET:
      return parse_v4(bytes);
    case AF_INET6:
      return parse_v6(bytes);
    default:
      return OtherFamily{family};
  }
}

std::vector<std::byte> make_sockaddr(const Endpoint& endpoint, int family) {
  if (family == AF_INET) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(endpoint.port);
    const auto ip = last_four(endpoint.address);
    std::memcpy(&name.sin_addr, ip.data(), ip.size());
    return bytes_of(name);
  }
  sockaddr_in6 name{};
  name.sin6_family = AF_INET6;
  name.sin6_port = htons(endpoint.port);
  std::memcpy(&name.sin6_addr, endpoint.address.bytes.data(), endpoint.address.bytes.size());
  name.sin6_scope_id = endpoint.scope_id;
  return bytes_of(name);
}

}  // namespace sockhop::core
