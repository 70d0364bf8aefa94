// Entries of one legacy iptables table, as the kernel gives them, translated into chains of
// core/rule_set.h.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/rule_set.h"

namespace sockhop::sys {

/// What the kernel says about a table beside its entries (struct ipt_getinfo).
struct LegacyTable {
  std::string_view name;  // "filter"
  bool v6 = false;
  std::uint32_t valid_hooks = 0;                // bits: NF_INET_*
  std::array<std::uint32_t, 5> hook_entries{};  // offset of each hook's first entry
  std::span<const char> entries;
};

/// False where the bytes make no sense; what was added before then is to be thrown away.
bool add_legacy_table(const LegacyTable& table, core::RuleSetBuilder& builder);

}  // namespace sockhop::sys
