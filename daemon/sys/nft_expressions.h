// Expressions of one nf_tables rule, translated into steps of core/rule_set.h.
#pragma once

#include <libmnl/libmnl.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/rule_set.h"

namespace sockhop::sys {

/// What is common to the rules of one table.
struct NftTable {
  core::RuleSetBuilder& builder;
  /// "ip filter": chains and sets are named below it.
  std::string key;

  [[nodiscard]] std::string key_of(std::string_view name) const {
    return key + " " + std::string(name);
  }
};

/// `expressions` is NFTA_RULE_EXPRESSIONS. Whatever cannot be read does harm.
core::RuleProgram read_expressions(const nlattr& expressions, const NftTable& table);

/// NFTA_DATA_VERDICT.
core::RuleVerdict read_verdict(const nlattr& verdict, const NftTable& table);
/// NFTA_DATA_VALUE below an attribute that holds data; empty where there is none.
std::vector<std::uint8_t> read_value(const nlattr* data);

std::string_view nft_text(const nlattr* attribute);
std::optional<std::uint32_t> nft_number(const nlattr* attribute);

}  // namespace sockhop::sys
