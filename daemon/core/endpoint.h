// One address type for both families: IPv4 is held as its v4-mapped IPv6 value (RFC 4291 2.5.5.2),
// so a destination has one spelling before any decision is made.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sockhop::core {

struct Address {
  std::array<std::uint8_t, 16> bytes{};  // network order

  /// From four network-order bytes.
  static Address v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d);
  /// "10.0.2.2", "::1", "::ffff:10.0.2.2"; no scope id.
  static Result<Address> parse(std::string_view text);

  [[nodiscard]] bool is_v4() const;
  [[nodiscard]] bool is_unspecified() const;  // 0.0.0.0, ::, ::ffff:0.0.0.0
  [[nodiscard]] bool is_loopback() const;     // 127.0.0.0/8 in both spellings, ::1
  [[nodiscard]] bool is_multicast() const;    // 224.0.0.0/4, ff00::/8
  [[nodiscard]] bool is_link_local() const;   // 169.254.0.0/16, fe80::/10
  auto operator<=>(const Address&) const = default;
};

/// IPv4 addresses print as IPv4.
std::string to_string(const Address& address);

struct Endpoint {
  Address address;
  std::uint16_t port = 0;      // host order
  std::uint32_t scope_id = 0;  // interface index of an IPv6 link-local address
  auto operator<=>(const Endpoint&) const = default;
};

/// "10.0.2.2:80", "[::1]:80".
std::string to_string(const Endpoint& endpoint);
/// Reads what to_string writes; the port is required.
Result<Endpoint> parse_endpoint(std::string_view text);

/// A block of addresses; an IPv4 block's prefix counts from the v4-mapped prefix on (96 + n).
struct Cidr {
  Address address;
  std::uint8_t prefix = 0;  // 0..128 in v4-mapped space
  /// "10.0.0.0/8", "fd00::/8", "10.1.2.3" (a host). Bits behind the prefix are cleared. "::/0"
  /// holds every address of both families, "0.0.0.0/0" every IPv4 address.
  static Result<Cidr> parse(std::string_view text);
  [[nodiscard]] bool contains(const Address& candidate) const;
};
std::string to_string(const Cidr& cidr);

}  // namespace sockhop::core
