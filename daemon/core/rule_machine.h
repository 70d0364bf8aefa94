// Runs rules on a packet of which not everything is known, and follows every way that is possible.
//
// A match that cannot be decided leads both ways: so it counts as matching where the rule drops,
// rejects or redirects, and as not matching where it accepts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/packet.h"
#include "core/rule_set.h"

namespace sockhop::core {

/// The rule (counted from 1; 0: the policy) that may do something to the packet.
struct Objection {
  std::string chain;
  std::size_t rule = 0;
};

/// For one packet on its way through one namespace: marks set in one chain are seen in the next.
class RuleMachine {
 public:
  /// `packet` is changed where a rule sets its mark; both must outlive the machine.
  RuleMachine(const RuleSet& rules, Packet& packet) : rules_(rules), packet_(packet) {}

  /// A base chain.
  std::optional<Objection> run(const RuleChain& base);

 private:
  /// What may happen in a chain; both ways may be possible.
  struct Ways {
    bool accepts = false;
    bool ends = false;  // its end is reached, or a return
  };
  struct Outcome {
    Match match = Match::no;
    RuleVerdict verdict{};
  };

  Ways run_chain(const RuleChain& chain, std::size_t depth);
  /// False: the chain is left.
  bool apply(const Outcome& outcome, std::size_t depth, Ways& ways);
  bool enter(const Outcome& outcome, std::size_t depth, Ways& ways);
  void run_rule(const RuleProgram& rule, std::vector<Outcome>& outcomes);
  Match step(const RuleStep& step);
  void set_mark(const SetMark& step, Match reached);
  bool look_up(const Lookup& lookup, Match& reached, std::vector<Outcome>& outcomes);
  void object(const RuleChain& chain, std::size_t rule);

  // The kernel's own limits are 16 jumps (nf_tables) and the loops that it refuses.
  static constexpr std::size_t kMaxDepth = 32;
  static constexpr std::size_t kMaxSteps = 200'000;

  const RuleSet& rules_;
  Packet& packet_;
  KnownBytes registers_;
  bool unsure_ = false;  // an earlier decision could have gone another way
  std::size_t steps_ = 0;
  std::optional<Objection> objection_;
};

}  // namespace sockhop::core
