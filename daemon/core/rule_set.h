// A model of netfilter rules: what nf_tables runs, and what xtables rules are translated into.
//
// A rule is a little program on registers (core/known_bytes.h): it loads facts of a packet,
// compares them, and ends in a verdict. The model holds what matters to the question of
// filtering.h: can the rules do anything to a connection but let it pass or change its source?
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/known_bytes.h"

namespace sockhop::core {

/// Facts of a packet that a rule can load.
enum class PacketField {
  protocol,     // Ethernet's, 2 bytes of network order
  net_family,   // NFPROTO_IPV4 or _IPV6, 1 byte
  l4_protocol,  // 1 byte
  in_index,     // 4 bytes of host order, as all that follow
  in_name,      // 16 bytes
  out_index,
  out_name,
  mark,
  ct_state,      // bits: NF_CT_STATE_BIT
  ct_status,     // bits: IPS_*
  ct_direction,  // 1 byte
  source_type,   // RTN_*
  destination_type,
  unknown,
};

/// Registers are named by the offset of their first byte.
struct LoadField {
  PacketField field;
  std::uint8_t reg;
  std::uint8_t length;
  bool operator==(const LoadField&) const = default;
};
struct LoadHeader {
  bool transport;  // else network
  std::uint16_t offset;
  std::uint8_t reg;
  std::uint8_t length;
  bool operator==(const LoadHeader&) const = default;
};
struct LoadValue {
  std::uint8_t reg;
  std::vector<std::uint8_t> bytes;
  bool operator==(const LoadValue&) const = default;
};
struct Combine {
  std::uint8_t to;
  std::uint8_t from;
  std::vector<std::uint8_t> mask;
  std::vector<std::uint8_t> flip;
  bool operator==(const Combine&) const = default;
};
struct SetMark {
  std::uint8_t reg;
  bool operator==(const SetMark&) const = default;
};

enum class Order { equal, unequal, less, less_equal, greater, greater_equal };
struct Compare {
  Order order;
  std::uint8_t reg;
  std::vector<std::uint8_t> bytes;
  bool operator==(const Compare&) const = default;
};
/// In one of the ranges; or, `negated`, in none.
struct InRanges {
  bool negated;
  std::uint8_t reg;
  std::vector<ByteRange> ranges;
  bool operator==(const InRanges&) const = default;
};
/// Whether the rule goes on depends on what is not known (a rate, a user, another program's set).
struct Unsure {
  bool operator==(const Unsure&) const = default;
};

struct RuleVerdict {
  enum class Kind { accept, harm, go_on, jump, go_to, back };
  Kind kind = Kind::harm;
  int chain = -1;  // of a jump or goto
  bool operator==(const RuleVerdict&) const = default;
};
/// Changes the source, and accepts.
struct SourceNat {
  bool operator==(const SourceNat&) const = default;
};
/// Looks a register up; goes on when found (not found, `negated`), with a value or a verdict.
struct Lookup {
  int set;
  std::uint8_t reg;
  bool negated;
  int to = -1;  // register of the value; -1: none
  bool verdict = false;
  bool operator==(const Lookup&) const = default;
};

using RuleStep = std::variant<LoadField, LoadHeader, LoadValue, Combine, SetMark, Compare, InRanges,
                              Unsure, RuleVerdict, SourceNat, Lookup>;
using RuleProgram = std::vector<RuleStep>;

enum class Hook { prerouting, input, forward, output, postrouting, link };
enum class RuleFamily { v4, v6, both, link };  // link: bridge, netdev, arp

struct RuleChain {
  std::string name;  // "ip filter FORWARD", for people
  bool defined = false;
  bool base = false;
  RuleFamily family = RuleFamily::both;
  Hook hook = Hook::link;
  std::int32_t priority = 0;
  bool nat = false;    // sees a connection's first packet only
  bool drops = false;  // the policy
  std::vector<RuleProgram> rules;
  bool operator==(const RuleChain&) const = default;
};

struct RuleSetElement {
  std::vector<std::uint8_t> key;
  std::vector<std::uint8_t> key_end;  // of an interval of a concatenation; else empty
  bool interval_end = false;          // the interval that began before ends here
  bool unsure = false;                // has a condition of its own
  RuleVerdict verdict{};
  std::vector<std::uint8_t> value;
  bool operator==(const RuleSetElement&) const = default;
};
struct RuleLookupSet {
  bool intervals = false;                   // elements are starts and ends of intervals
  bool open = true;                         // contents are not known: changed by packets, or unread
  std::vector<std::uint8_t> field_lengths;  // of a concatenation of intervals, in bytes
  std::vector<RuleSetElement> elements;     // ordered by key once finished
  std::vector<RuleSetElement> otherwise;    // the catch-all element
  bool operator==(const RuleLookupSet&) const = default;
};

struct RuleSet {
  std::vector<RuleChain> chains;
  std::vector<RuleLookupSet> sets;
  std::vector<int> bases;  // base chains in the order of their priority
  bool sets_marks = false;
  bool translates_source = false;
  bool operator==(const RuleSet&) const = default;
};

/// Puts a rule set together from pieces in any order; chains and sets are named by keys.
class RuleSetBuilder {
 public:
  /// The number of the chain; it exists from its first mention and is defined by define().
  int chain(std::string_view key);
  RuleChain& define(std::string_view key);
  int set(std::string_view key);
  RuleLookupSet& set_at(int number) { return rules_.sets[static_cast<std::size_t>(number)]; }
  /// For rules that are read one by one. Nothing more is taken from 20,000 on; see full().
  void add_rule(std::string_view chain_key, RuleProgram rule);
  [[nodiscard]] bool full() const { return rules_count_ >= kMaxRules; }
  RuleSet finish() &&;

 private:
  static constexpr std::size_t kMaxRules = 20'000;
  RuleSet rules_;
  std::map<std::string, int, std::less<>> chain_numbers_;
  std::map<std::string, int, std::less<>> set_numbers_;
  std::size_t rules_count_ = 0;
};

}  // namespace sockhop::core
