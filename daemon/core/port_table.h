// Published ports: which host endpoint serves which container port.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/endpoint.h"
#include "core/policy.h"

namespace sockhop::core {

/// "[IP:]HOST:CONT[/PROTO]"; IP defaults to 0.0.0.0, PROTO to tcp.
struct PublishedPort {
  Endpoint host;
  std::uint16_t container_port = 0;
  Protocol protocol = Protocol::tcp;
  auto operator<=>(const PublishedPort&) const = default;
};

Result<PublishedPort> parse_published_port(std::string_view text);
std::string to_string(const PublishedPort& port);

/// Does a listener bound to `local` (in the container) serve the published container port?
/// Not when it is bound to loopback only. The families are not compared: a listener of either
/// family serves a host endpoint of either, because the endpoint listens in the listener's family.
bool listener_serves(const Endpoint& local, const PublishedPort& port);

/// The container port behind a host endpoint's port, by the local name of an accepted (TCP) socket:
/// the first entry of that port whose host address is unspecified (of either family) or the same.
std::optional<std::uint16_t> container_port_of(const std::vector<PublishedPort>& ports,
                                               const Endpoint& accepted_local);

}  // namespace sockhop::core
