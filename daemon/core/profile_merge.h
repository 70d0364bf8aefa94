// Which calls sockhop wants to see, and how its rules enter a list of rules (pure, no JSON).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/profile_section.h"

namespace sockhop::core {

/// Is the call one that sockhop's own profile notifies?
bool is_watched_call(std::string_view name);

struct MergedRules {
  /// To be put before the profile's own.
  std::vector<SeccompRule> ours;
  /// The names that `ours` now decides: to be taken out of every permitting rule of the profile.
  std::vector<std::string> taken;
};

/// A watched call is notified exactly where the profile permits it and our condition holds; where
/// the profile permits it and our condition does not hold, its permission is said again. A name is
/// left as it is when the profile refuses it, or when its conditions together with ours cannot be
/// said in rules. `default_action` is the profile's, and `rules` hold no SCMP_ACT_NOTIFY.
MergedRules merge_rules(const std::vector<SeccompRule>& rules, std::string_view default_action,
                        bool refuse_io_uring);

}  // namespace sockhop::core
