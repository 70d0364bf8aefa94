// Elements of a set that a value may meet.
#pragma once

#include <vector>

#include "core/known_bytes.h"
#include "core/rule_set.h"

namespace sockhop::core {

struct SetHit {
  const RuleSetElement* element;
  Match match;  // never `no`
};

/// Elements that match the registers from `at` on: at most one `yes`, then alone.
std::vector<SetHit> find_in_set(const RuleLookupSet& set, const KnownBytes& registers,
                                std::size_t at);

}  // namespace sockhop::core
