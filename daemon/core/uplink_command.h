// What a slirp4netns or pasta command line says about the namespace it serves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/endpoint.h"
#include "core/route_answer.h"

namespace sockhop::core {

struct UplinkCommand {
  /// The served namespace: of a process, at a path, or (pasta with a command) of its own child.
  struct OfChild {};
  using Target = std::variant<std::int64_t, std::string, OfChild>;

  UplinkKind kind = UplinkKind::slirp4netns;
  Target target;
  /// Empty: pasta names its device like the host's outbound one.
  std::string device;
  /// Bound to an outbound address or device, or told not to carry TCP: nothing may hop.
  bool outbound_fixed = false;
  /// Addresses named in the command that lead to the host or its resolver.
  std::vector<Address> mapped;
};

/// `arguments` begins with the program's name. Nothing when it is neither program, or the line
/// makes no sense.
std::optional<UplinkCommand> parse_uplink_command(const std::vector<std::string>& arguments);

}  // namespace sockhop::core
