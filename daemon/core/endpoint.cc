#include "core/endpoint.h"

#include <arpa/inet.h>

#include <algorithm>
#include <limits>

#include "core/text.h"

namespace sockhop::core {
namespace {

constexpr std::size_t kV4Offset = 12;
constexpr std::uint8_t kV4PrefixBits = 96;

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

// The 16 bytes as IPv6 text, also where they hold an IPv4 address.
std::string v6_text(const Address& address) {
  char text[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(AF_INET6, address.bytes.data(), text, sizeof text);
  return text;
}

// Clears the bits behind the prefix, so that one block has one value.
Address masked(Address address, std::uint8_t prefix) {
  for (std::size_t i = 0; i < address.bytes.size(); ++i) {
    const int bits = std::clamp(static_cast<int>(prefix) - static_cast<int>(i) * 8, 0, 8);
    address.bytes[i] = static_cast<std::uint8_t>(address.bytes[i] & (0xff00 >> bits));
  }
  return address;
}

}  // namespace

Address Address::v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  return Address{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d}};
}

Result<Address> Address::parse(std::string_view text) {
  // inet_pton wants a terminated string; a NUL inside must not end the text early.
  std::array<char, INET6_ADDRSTRLEN> copy{};
  if (text.size() >= copy.size() || text.find('\0') != text.npos) {
    return input_error("address", "not an IP address");
  }
  std::ranges::copy(text, copy.begin());
  std::array<std::uint8_t, 4> four{};
  if (::inet_pton(AF_INET, copy.data(), four.data()) == 1) {
    return v4(four[0], four[1], four[2], four[3]);
  }
  Address address;
  if (::inet_pton(AF_INET6, copy.data(), address.bytes.data()) == 1) return address;
  return input_error("address", quoted(text) + " is not an IP address");
}

bool Address::is_v4() const {
  static constexpr std::array<std::uint8_t, kV4Offset> kMapped{0, 0, 0, 0, 0,    0,
                                                               0, 0, 0, 0, 0xff, 0xff};
  return std::equal(kMapped.begin(), kMapped.end(), bytes.begin());
}

bool Address::is_unspecified() const { return *this == Address{} || *this == v4(0, 0, 0, 0); }

bool Address::is_loopback() const {
  if (is_v4()) return bytes[kV4Offset] == 127;
  return *this == Address{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
}

bool Address::is_multicast() const {
  if (is_v4()) return (bytes[kV4Offset] & 0xf0) == 0xe0;
  return bytes[0] == 0xff;
}

bool Address::is_link_local() const {
  if (is_v4()) return bytes[kV4Offset] == 169 && bytes[kV4Offset + 1] == 254;
  return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

std::string to_string(const Address& address) {
  if (!address.is_v4()) return v6_text(address);
  char text[INET_ADDRSTRLEN] = {};
  ::inet_ntop(AF_INET, address.bytes.data() + kV4Offset, text, sizeof text);
  return text;
}

std::string to_string(const Endpoint& endpoint) {
  const std::string port = ":" + std::to_string(endpoint.port);
  std::string text = to_string(endpoint.address);
  if (endpoint.address.is_v4()) return text + port;
  if (endpoint.scope_id != 0) text += "%" + std::to_string(endpoint.scope_id);
  return "[" + text + "]" + port;
}

Result<Endpoint> parse_endpoint(std::string_view text) {
  const auto refused = [&] {
    return input_error("endpoint", quoted(text) + " is not ADDRESS:PORT or [ADDRESS]:PORT");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos) return refused();
  std::string_view host = text.substr(0, colon);
  const auto port = parse_number(text.substr(colon + 1), std::numeric_limits<std::uint16_t>::max());
  if (!port) return refused();

  Endpoint endpoint{.address = {}, .port = static_cast<std::uint16_t>(*port)};
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  // Without brackets the last group of an IPv6 address would be taken for the port.
  if (!bracketed && host.find(':') != host.npos) return refused();
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (const std::size_t percent = host.find('%'); bracketed && percent != host.npos) {
    const auto scope =
        parse_number(host.substr(percent + 1), std::numeric_limits<std::uint32_t>::max());
    if (!scope) return refused();
    endpoint.scope_id = *scope;
    host = host.substr(0, percent);
  }
  const auto address = Address::parse(host);
  if (!address) return refused();
  endpoint.address = *address;
  // Like the kernel: a scope means something on a link-local address only.
  if (!address->is_link_local() || address->is_v4()) endpoint.scope_id = 0;
  return endpoint;
}

Result<Cidr> Cidr::parse(std::string_view text) {
  const auto refused = [&] {
    return input_error("block", quoted(text) + " is not ADDRESS or ADDRESS/PREFIX");
  };
  const std::size_t slash = text.find('/');
  const std::string_view address_text = text.substr(0, slash);
  const auto address = Address::parse(address_text);
  if (!address) return refused();
  if (slash == text.npos) return Cidr{*address, 128};
  // How the address is spelled says what its prefix counts: ::ffff:10.0.0.0/104 is 10.0.0.0/8.
  const bool dotted = address_text.find(':') == address_text.npos;
  const auto number = parse_number(text.substr(slash + 1), dotted ? 32 : 128);
  if (!number) return refused();
  const auto prefix = static_cast<std::uint8_t>(*number + (dotted ? kV4PrefixBits : 0));
  return Cidr{masked(*address, prefix), prefix};
}

bool Cidr::contains(const Address& candidate) const {
  return masked(candidate, prefix) == masked(address, prefix);
}

std::string to_string(const Cidr& cidr) {
  if (cidr.address.is_v4() && cidr.prefix >= kV4PrefixBits) {
    return to_string(cidr.address) + "/" + std::to_string(cidr.prefix - kV4PrefixBits);
  }
  return v6_text(cidr.address) + "/" + std::to_string(cidr.prefix);
}

}  // namespace sockhop::core
