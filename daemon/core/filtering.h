// Judges a rule set without evaluating it: can it do anything to a packet but let it pass or change
// its source? What is not understood counts as able to. Marks are harmless by themselves: an ip
// rule that selects by one counts as unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/route_answer.h"

namespace sockhop::core {

/// One nf_tables expression, as far as it can have an effect (linux/netfilter/nf_tables.h).
struct RuleExpression {
  std::string_view name{};                  // "masq", "immediate", "payload"
  std::optional<std::int32_t> verdict{};    // of an immediate: NF_ACCEPT, NFT_JUMP, ...
  std::optional<std::uint32_t> nat_type{};  // of a nat
  std::string_view target{};                // of an xtables target: "MASQUERADE"
  bool writes = false;                      // sets packet bytes, a mark, or the verdict from a map
};

/// Adds up what is seen of a rule set.
class FilteringSum {
 public:
  /// A base chain with the verdict for packets that no rule decides.
  void add_policy(std::uint32_t verdict);
  void add_expression(const RuleExpression& expression);
  /// A legacy table's rule: its target, and the verdict of the standard target "".
  void add_legacy_target(std::string_view target, std::int32_t verdict);
  /// Something present whose effect is not known.
  void add_unknown() { harmful_ = true; }

  [[nodiscard]] Filtering result() const;

 private:
  bool present_ = false;
  bool harmful_ = false;
};

}  // namespace sockhop::core
