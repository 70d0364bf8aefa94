// The daemon's configuration file (TOML), and the policy that follows from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/policy.h"

namespace sockhop::core {

struct Config {
  /// Of a container that nobody registered; its rules come after a container's own.
  Policy policy;
  /// Kernel features not to use, as --without names them.
  std::vector<std::string> without;

  [[nodiscard]] bool allows(std::string_view feature) const;
};

/// Reads the text of sockhop.toml. Unknown keys and wrong types are errors that name line and key.
Result<Config> parse_config(std::string_view text);

/// Sets one option as the command line spells it: names, host-local, udp, strict.
Status set_option(Config& config, std::string_view name, std::string_view value);

/// The policy of one container.
Policy policy_for(const Config& config, const std::vector<Rule>& own_rules, bool accelerate);

}  // namespace sockhop::core
