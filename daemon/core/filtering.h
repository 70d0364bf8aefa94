// Would the rules of a namespace do anything to a connection but let it pass or change its source?
//
// The rules are run (core/rule_machine.h) on the packets of a TCP connection that does not exist
// yet: its first one, later ones, and those that come back. Whatever is not known of them may be
// anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/endpoint.h"
#include "core/rule_machine.h"
#include "core/rule_set.h"

namespace sockhop::core {

/// What `ip rule` selects by that a route question does not carry (it names a destination; its mark
/// is 0, its device none).
struct RouteSelectors {
  bool mark = false;
  bool in_device = false;
  bool anything_else = false;
  bool operator==(const RouteSelectors&) const = default;
};

/// Everything that filters, rewrites, shapes or selects in one namespace.
struct NamespaceRules {
  std::uint32_t nft_generation = 0;  // 0: nothing was read
  RuleSet nft;
  RuleSet legacy;  // iptables and ip6tables of the old back end
  RouteSelectors selectors;
  /// xfrm policies or a queueing discipline that may classify: nothing passes.
  bool shapes_or_transforms = false;
  /// The rules could not be read: nothing passes.
  bool unreadable = false;
  /// Source ports that the kernel chooses here are 32768 or more (net.ipv4.ip_local_port_range).
  bool local_ports_are_high = false;
  bool operator==(const NamespaceRules&) const = default;

  static NamespaceRules not_readable() {
    NamespaceRules rules;
    rules.unreadable = true;
    return rules;
  }
};

struct CrossedDevice {
  int index = 0;
  std::string name;
};

/// A connection's way through one namespace.
struct Crossing {
  std::optional<Address> source;
  Address destination;
  std::uint16_t port = 0;
  bool source_port_is_high = false;   // 32768 or more; else nothing is known of it
  bool made_here = true;              // else it comes in by `in`
  std::optional<CrossedDevice> in{};  // nothing where it is not known
  CrossedDevice out{};
};

/// Nothing: it passes.
std::optional<Objection> objection_to(const NamespaceRules& rules, const Crossing& crossing);

/// Does every connection pass, whatever it is? Then objection_to() need not be asked for each port.
bool passes_everything(const NamespaceRules& rules);

}  // namespace sockhop::core
