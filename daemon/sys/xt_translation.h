// Matches and targets of xtables, translated into steps of core/rule_set.h.
//
// Both iptables back ends have them: legacy tables are made of nothing else, and iptables-nft keeps
// those that nf_tables has no expression for.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/rule_set.h"

namespace sockhop::sys {

struct XtExtension {
  std::string_view name;
  std::uint32_t revision = 0;
  std::span<const char> info;
};

/// A match that is not known here is one that nothing is known of.
void append_xt_match(const XtExtension& match, core::RuleProgram& rule);
/// A target that is not known here does harm.
void append_xt_target(const XtExtension& target, core::RuleProgram& rule);

/// The value of a field under a mask: `(field & mask) == value`, or unequal. Both are of host
/// order.
struct MaskedField {
  core::PacketField field;
  std::uint32_t mask;
  std::uint32_t value;
  core::Order order;
};
void append_masked(const MaskedField& step, core::RuleProgram& rule);

}  // namespace sockhop::sys
