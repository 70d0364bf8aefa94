// Socket addresses as bytes of a container or of the kernel, to and from Endpoint.
#pragma once

#include <cstddef>
#include <span>
#include <variant>
#include <vector>

#include "core/endpoint.h"

namespace sockhop::core {

/// The longest address the kernel copies in: sizeof(struct sockaddr_storage).
inline constexpr std::size_t kMaxSockaddr = 128;

/// A family that is none of ours (AF_UNIX, AF_NETLINK, ...).
struct OtherFamily {
  int family;
};
/// connect(2) with AF_UNSPEC dissolves the association.
struct Disconnect {};
/// A length that the kernel refuses with EINVAL: no room for a family, or too short for an inet
/// one.
struct TooShort {};

struct InetName {
  Endpoint endpoint;
  int family;  // AF_INET or AF_INET6, as spelled by the caller
};

using ParsedSockaddr = std::variant<InetName, Disconnect, OtherFamily, TooShort>;

/// Never reads past `bytes`; accepts what the kernel accepts (IPv4 from 16 bytes, IPv6 from
/// SIN6_LEN_RFC2133 = 24 bytes on).
ParsedSockaddr parse_sockaddr(std::span<const std::byte> bytes);

/// The bytes a socket of `family` would show for the endpoint: AF_INET6 shows IPv4 mapped.
/// Precondition for AF_INET: endpoint.address.is_v4().
std::vector<std::byte> make_sockaddr(const Endpoint& endpoint, int family);

}  // namespace sockhop::core
