#include "core/rule_machine.h"

#include <algorithm>
#include <array>
#include <span>

#include "core/rule_lookup.h"

namespace sockhop::core {
namespace {

using Kind = RuleVerdict::Kind;

Match compare(const KnownBytes& registers, const Compare& step) {
  switch (step.order) {
    case Order::equal:
      return registers.equals(step.reg, step.bytes);
    case Order::unequal:
      return !registers.equals(step.reg, step.bytes);
    case Order::less:
      return registers.less(step.reg, step.bytes);
    case Order::less_equal:
      return !registers.greater(step.reg, step.bytes);
    case Order::greater:
      return registers.greater(step.reg, step.bytes);
    case Order::greater_equal:
      return !registers.less(step.reg, step.bytes);
  }
  return Match::maybe;
}

Match in_ranges(const KnownBytes& registers, const InRanges& step) {
  auto match = Match::no;
  for (const auto& range : step.ranges) match = std::max(match, registers.in(step.reg, range));
  return step.negated ? !match : match;
}

}  // namespace

void RuleMachine::object(const RuleChain& chain, std::size_t rule) {
  if (!objection_) objection_ = Objection{chain.name, rule};
}

std::optional<Objection> RuleMachine::run(const RuleChain& base) {
  const Ways ways = run_chain(base, 0);
  if (!objection_ && ways.ends && base.drops) object(base, 0);
  return objection_;
}

RuleMachine::Ways RuleMachine::run_chain(const RuleChain& chain, std::size_t depth) {
  Ways ways;
  if (!chain.defined || depth > kMaxDepth) {
    object(chain, 0);
    return ways;
  }
  std::vector<Outcome> outcomes;
  for (std::size_t i = 0; i < chain.rules.size(); ++i) {
    outcomes.clear();
    run_rule(chain.rules[i], outcomes);
    for (const Outcome& outcome : outcomes) {
      const bool goes_on = apply(outcome, depth, ways);
      if (outcome.verdict.kind == Kind::harm || steps_ > kMaxSteps) object(chain, i + 1);
      if (objection_ || !goes_on) return ways;
    }
  }
  ways.ends = true;
  return ways;
}

bool RuleMachine::apply(const Outcome& outcome, std::size_t depth, Ways& ways) {
  const bool sure = outcome.match == Match::yes;
  switch (outcome.verdict.kind) {
    case Kind::accept:
      ways.accepts = true;
      break;
    case Kind::back:
      ways.ends = true;
      break;
    case Kind::harm:
      return false;
    case Kind::go_on:
      return true;
    case Kind::jump:
    case Kind::go_to:
      return enter(outcome, depth, ways);
  }
  unsure_ = unsure_ || !sure;
  return !sure;
}

bool RuleMachine::enter(const Outcome& outcome, std::size_t depth, Ways& ways) {
  const bool sure = outcome.match == Match::yes;
  const auto number = static_cast<std::size_t>(outcome.verdict.chain);
  unsure_ = unsure_ || !sure;
  if (number >= rules_.chains.size()) {
    objection_ = Objection{"", 0};
    return false;
  }
  const Ways inner = run_chain(rules_.chains[number], depth + 1);
  ways.accepts = ways.accepts || inner.accepts;
  const bool comes_back = inner.ends && outcome.verdict.kind == Kind::jump;
  ways.ends = ways.ends || (inner.ends && !comes_back);
  unsure_ = unsure_ || (inner.accepts && inner.ends);
  return comes_back || !sure;
}

void RuleMachine::run_rule(const RuleProgram& rule, std::vector<Outcome>& outcomes) {
  registers_ = KnownBytes();
  auto reached = Match::yes;
  for (const auto& one : rule) {
    ++steps_;
    if (const auto* verdict = std::get_if<RuleVerdict>(&one)) {
      if (verdict->kind == Kind::go_on) continue;
      outcomes.push_back({reached, *verdict});
      return;
    }
    if (std::holds_alternative<SourceNat>(one)) {
      outcomes.push_back({reached, {Kind::accept, -1}});
      return;
    }
    if (const auto* mark = std::get_if<SetMark>(&one)) {
      set_mark(*mark, reached);
    } else if (const auto* lookup = std::get_if<Lookup>(&one)) {
      if (!look_up(*lookup, reached, outcomes)) return;
    } else {
      reached = std::min(reached, step(one));
    }
    if (reached == Match::no) return;
  }
}

Match RuleMachine::step(const RuleStep& step) {
  struct Run {
    RuleMachine& machine;
    // A load fills whole words with zeros behind the value.
    Match pad(std::size_t reg, std::size_t length) const {
      constexpr std::array<std::uint8_t, 3> kZeros{};
      machine.registers_.set(reg + length, std::span(kZeros).first((4 - length % 4) % 4));
      return Match::yes;
    }
    Match operator()(const LoadField& load) const {
      machine.packet_.load(load.field, machine.registers_, load.reg, load.length);
      return pad(load.reg, load.length);
    }
    Match operator()(const LoadHeader& load) const {
      const auto& header = load.transport ? machine.packet_.transport : machine.packet_.network;
      machine.registers_.copy(load.reg, header, load.offset, load.length);
      return pad(load.reg, load.length);
    }
    Match operator()(const LoadValue& load) const {
      machine.registers_.set(load.reg, load.bytes);
      return Match::yes;
    }
    Match operator()(const Combine& combine) const {
      machine.registers_.combine(combine.to, combine.from, combine.mask, combine.flip);
      return Match::yes;
    }
    Match operator()(const Compare& one) const { return compare(machine.registers_, one); }
    Match operator()(const InRanges& one) const { return in_ranges(machine.registers_, one); }
    Match operator()(Unsure /*none*/) const { return Match::maybe; }
    // Those that run_rule() takes itself.
    Match operator()(const SetMark& /*none*/) const { return Match::yes; }
    Match operator()(const RuleVerdict& /*none*/) const { return Match::yes; }
    Match operator()(const SourceNat& /*none*/) const { return Match::yes; }
    Match operator()(const Lookup& /*none*/) const { return Match::maybe; }
  };
  return std::visit(Run{*this}, step);
}

void RuleMachine::set_mark(const SetMark& step, Match reached) {
  packet_.forget(PacketField::mark);
  if (unsure_ || reached != Match::yes) return;
  packet_.take(PacketField::mark, registers_, step.reg);
}

// True: the rule goes on, as far as `reached` says. A verdict ends it.
bool RuleMachine::look_up(const Lookup& lookup, Match& reached, std::vector<Outcome>& outcomes) {
  const auto number = static_cast<std::size_t>(lookup.set);
  if (number >= rules_.sets.size()) {
    outcomes.push_back({reached, {Kind::harm, -1}});
    return false;
  }
  const auto& set = rules_.sets[number];
  steps_ += set.elements.size() / 8;
  const auto found = find_in_set(set, registers_, lookup.reg);
  auto match = Match::no;
  for (const auto& hit : found) match = std::max(match, hit.match);
  if (set.open) match = Match::maybe;
  if (lookup.verdict) {
    if (set.open) outcomes.push_back({Match::maybe, {Kind::harm, -1}});
    for (const auto& hit : found) {
      outcomes.push_back({std::min(reached, hit.match), hit.element->verdict});
    }
    return false;
  }
  if (lookup.negated) match = !match;
  reached = std::min(reached, match);
  if (lookup.to < 0) return true;
  const auto to = static_cast<std::size_t>(lookup.to);
  registers_.forget(to, KnownBytes::kSize);
  if (match == Match::yes && found.size() == 1) registers_.set(to, found.front().element->value);
  return true;
}

}  // namespace sockhop::core
