#include "core/decide.h"

#include <sys/socket.h>

#include <algorithm>

namespace sockhop::core {
namespace {

// Why the socket itself keeps a connect() inside.
std::optional<Reason> socket_stays(const SocketFacts& socket) {
  if (!socket.can_hop()) return Reason::not_ours;
  if (socket.side == Side::elsewhere) return Reason::other_namespace;
  if (socket.state != TcpState::close) return Reason::already_used;
  if (socket.local.port != 0 || !socket.local.address.is_unspecified()) return Reason::bound;
  // On a host socket the device is our own leash, not the application's choice.
  const bool chose_device = socket.bound_device && socket.side == Side::container;
  if (socket.fastopen_connect || chose_device) return Reason::option_not_carried;
  if (socket.has_signal_owner) return Reason::signal_owner;
  return std::nullopt;
}

// A pair that the kernel refuses by itself, with the right errno.
bool family_mismatch(const Endpoint& destination, const SocketFacts& socket) {
  if (socket.family == AF_INET) return !destination.address.is_v4();
  return socket.v6_only && destination.address.is_v4();
}

// Destinations that mean the caller's own namespace or link wherever they are used.
std::optional<Reason> destination_stays(const Address& address) {
  if (address.is_loopback()) return Reason::loopback;
  if (address.is_unspecified()) return Reason::unspecified;
  if (address.is_multicast()) return Reason::multicast;
  if (address.is_link_local()) return Reason::on_link;
  return std::nullopt;
}

// A container that wins a race can connect a handed-over socket past a deny rule; under `strict`
// deny rules are a wall, so nothing is handed over.
bool strict_forbids_hops(const Policy& policy) {
  return policy.strict && std::ranges::any_of(policy.rules, [](const Rule& rule) {
           return rule.action == RuleAction::deny;
         });
}

Protocol protocol_of(const SocketFacts& socket) {
  return socket.is_inet_udp() ? Protocol::udp : Protocol::tcp;
}

bool hop_rule_matches(const Endpoint& destination, const SocketFacts& socket,
                      const Policy& policy) {
  const Rule* rule = first_match(policy.rules, destination, protocol_of(socket));
  return rule != nullptr && rule->action == RuleAction::hop && !strict_forbids_hops(policy);
}

std::optional<Verdict> policy_decides(const Endpoint& destination, const SocketFacts& socket,
                                      const Policy& policy) {
  if (!policy.accelerate) return Stay{Reason::switched_off};
  const Rule* rule = first_match(policy.rules, destination, protocol_of(socket));
  if (rule != nullptr && rule->action == RuleAction::deny) {
    return Deny{rule->deny_error, Reason::rule};
  }
  if (strict_forbids_hops(policy)) return Stay{Reason::rule};
  if (rule != nullptr && rule->action == RuleAction::stay) return Stay{Reason::rule};
  return std::nullopt;
}

bool is_about_the_uplink(Reason reason) {
  switch (reason) {
    case Reason::not_the_uplink:
    case Reason::unknown_uplink:
    case Reason::on_link:
    case Reason::outbound_fixed:
    case Reason::filtered:
    case Reason::uplink_maps_it:
      return true;
    default:
      // Only these six are known to be safe to set aside; a new reason must be added here by hand.
      return false;
  }
}

}  // namespace

std::optional<Verdict> decide_before_route(const Endpoint& destination, const SocketFacts& socket,
                                           const Policy& policy) {
  if (socket.is_inet_udp() && !policy.udp_hop) return Stay{Reason::not_ours};
  if (const auto reason = socket_stays(socket)) return Stay{*reason};
  if (family_mismatch(destination, socket)) return Stay{Reason::not_ours};
  if (const auto reason = destination_stays(destination.address)) return Stay{*reason};
  return policy_decides(destination, socket, policy);
}

bool hops_to_host(const Policy& policy, const std::variant<Reason, HostPath>& path) {
  const Reason* reason = std::get_if<Reason>(&path);
  return policy.host_local_hop && reason != nullptr && *reason == Reason::host_address;
}

bool rule_forces_hop(const Endpoint& destination, const SocketFacts& socket, const Policy& policy,
                     Reason reason) {
  return is_about_the_uplink(reason) && hop_rule_matches(destination, socket, policy);
}

Verdict decide_connect(const Endpoint& destination, const SocketFacts& socket, const Policy& policy,
                       const std::variant<Reason, HostPath>& path) {
  if (auto early = decide_before_route(destination, socket, policy)) return *std::move(early);
  if (const Reason* reason = std::get_if<Reason>(&path)) return Stay{*reason};
  if (policy.strict && socket.nonblocking && socket.is_inet_tcp()) return Stay{Reason::strict};
  const HostPath& host = std::get<HostPath>(path);
  const bool by_rule = hop_rule_matches(destination, socket, policy);
  return Hop{host.device, host.device_name, by_rule ? Reason::rule : Reason::seen_by_route};
}

}  // namespace sockhop::core
