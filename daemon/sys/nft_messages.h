// Messages of nf_tables, put together to a rule set.
//
// Raw messages instead of libnftables: its JSON names the matches of iptables-nft but leaves out
// what they say (nft 1.0.6: {"xt": {"type": "match", "name": "addrtype"}}), and a session may hold
// 1.5 MB of memory of its own.
#pragma once

#include <libmnl/libmnl.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/rule_set.h"

namespace sockhop::sys {

class NftMessages {
 public:
  /// A set whose elements are still to be asked for.
  struct SetName {
    std::uint8_t family;
    std::string table;
    std::string set;
  };

  /// The messages of dumps, in this order. Others, and any bytes, do no harm but to the result.
  void take_table(const nlmsghdr& message);
  void take_chain(const nlmsghdr& message);
  void take_rule(const nlmsghdr& message);
  void take_set(const nlmsghdr& message);
  void take_elements(const nlmsghdr& message);

  [[nodiscard]] bool has_tables() const { return has_tables_; }
  /// Of sets whose contents can be known and are worth it.
  [[nodiscard]] const std::vector<SetName>& sets() const { return sets_; }
  /// More than is worth to be held; then finish() would not tell all.
  [[nodiscard]] bool too_many() const { return builder_.full() || elements_ >= kMaxElements; }
  core::RuleSet finish() &&;

 private:
  static constexpr std::size_t kMaxElements = 65'536;
  core::RuleSetBuilder builder_;
  std::set<std::string> dormant_;  // tables that are switched off
  std::vector<SetName> sets_;
  std::size_t elements_ = 0;
  bool has_tables_ = false;
};

}  // namespace sockhop::sys
