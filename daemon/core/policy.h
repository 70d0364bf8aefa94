// What a user asked for, per daemon and per container. Passive data; read from TOML by the keeper.
#pragma once

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/endpoint.h"

namespace sockhop::core {

enum class RuleAction { stay, hop, deny };
enum class Protocol { any, tcp, udp };

/// First match wins. Text form, blanks only after the action:
///   "stay 10.0.0.0/8", "deny 203.0.113.0/24:1-1024/tcp", "hop [fd00::]/8:443", "deny=eacces ::/0"
struct Rule {
  RuleAction action = RuleAction::stay;
  Cidr addresses;
  std::uint16_t first_port = 0;
  std::uint16_t last_port = 65535;
  Protocol protocol = Protocol::any;
  int deny_error = ECONNREFUSED;  // "deny=eacces ..." gives EACCES
};

Result<Rule> parse_rule(std::string_view text);
std::string to_string(const Rule& rule);

/// The first rule that matches, or nothing.
const Rule* first_match(const std::vector<Rule>& rules, const Endpoint& destination,
                        Protocol protocol);

struct Policy {
  bool accelerate = true;      // `sockhop off` clears it
  bool names_of_host = false;  // names = host: getsockname is not rewritten
  bool strict = false;
  bool udp_hop = false;         // udp = hop: connected UDP hops
  bool host_local_hop = false;  // host-local = hop
  std::vector<Rule> rules;      // container's first, then daemon's
  /// Tap devices whose owner is unknown but which the user vouches for: "tap0".
  std::vector<std::string> uplinks;
};

}  // namespace sockhop::core
