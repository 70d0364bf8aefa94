#include "core/port_table.h"

#include "core/text.h"

namespace sockhop::core {
namespace {

constexpr std::uint32_t kMaxPort = 65535;

std::optional<std::uint16_t> parse_port(std::string_view text) {
  const auto port = parse_number(text, kMaxPort);
  if (!port || *port == 0) return std::nullopt;
  return static_cast<std::uint16_t>(*port);
}

std::optional<Protocol> parse_protocol(std::string_view text) {
  if (text == "tcp") return Protocol::tcp;
  if (text == "udp") return Protocol::udp;
  return std::nullopt;
}

// "1.2.3.4" or "[::1]".
std::optional<Address> parse_host_ip(std::string_view text) {
  const bool bracketed = text.size() >= 2 && text.front() == '[' && text.back() == ']';
  if (bracketed) text = text.substr(1, text.size() - 2);
  const auto address = Address::parse(text);
  if (!address || address->is_v4() == bracketed) return std::nullopt;
  return *address;
}

}  // namespace

Result<PublishedPort> parse_published_port(std::string_view text) {
  const auto refused = [&](const char* why) {
    return input_error("port", "\"" + std::string(text) + "\": " + why +
                                   "; write [IP:]HOST:CONTAINER[/tcp|/udp], an IPv6 address in []");
  };
  std::string_view rest = text;
  PublishedPort port{.host = {.address = Address::v4(0, 0, 0, 0)}};
  if (const std::size_t slash = rest.rfind('/'); slash != rest.npos) {
    const auto protocol = parse_protocol(rest.substr(slash + 1));
    if (!protocol) return refused("the protocol is neither tcp nor udp");
    port.protocol = *protocol;
    rest = rest.substr(0, slash);
  }
  const std::size_t last = rest.rfind(':');
  if (last == rest.npos) return refused("the container port is missing");
  const auto container_port = parse_port(rest.substr(last + 1));
  rest = rest.substr(0, last);
  const std::size_t before = rest.rfind(':');
  const auto host_port = parse_port(before == rest.npos ? rest : rest.substr(before + 1));
  if (!container_port || !host_port) return refused("a port is a number from 1 to 65535");
  port.container_port = *container_port;
  port.host.port = *host_port;
  if (before != rest.npos) {
    const auto address = parse_host_ip(rest.substr(0, before));
    if (!address) return refused("the host address is not an IP address");
    port.host.address = *address;
  }
  return port;
}

std::string to_string(const PublishedPort& port) {
  return to_string(port.host) + ":" + std::to_string(port.container_port) +
         (port.protocol == Protocol::udp ? "/udp" : "/tcp");
}

bool listener_serves(const Endpoint& local, const PublishedPort& port) {
  return local.port == port.container_port && !local.address.is_loopback();
}

std::optional<std::uint16_t> container_port_of(const std::vector<PublishedPort>& ports,
                                               const Endpoint& accepted_local) {
  for (const PublishedPort& port : ports) {
    const Address& host = port.host.address;
    if (port.protocol == Protocol::tcp && port.host.port == accepted_local.port &&
        (host.is_unspecified() || host == accepted_local.address)) {
      return port.container_port;
    }
  }
  return std::nullopt;
}

}  // namespace sockhop::core
