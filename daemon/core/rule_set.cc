#include "core/rule_set.h"

#include <algorithm>

namespace sockhop::core {
namespace {

int number_of(std::map<std::string, int, std::less<>>& numbers, std::string_view key,
              std::size_t next) {
  const auto known = numbers.find(key);
  if (known != numbers.end()) return known->second;
  numbers.emplace(std::string(key), static_cast<int>(next));
  return static_cast<int>(next);
}

// Where an interval ends and another begins, the kernel finds the beginning.
bool before(const RuleSetElement& one, const RuleSetElement& other) {
  if (one.key != other.key) return one.key < other.key;
  return one.interval_end && !other.interval_end;
}

}  // namespace

int RuleSetBuilder::chain(std::string_view key) {
  const int number = number_of(chain_numbers_, key, rules_.chains.size());
  if (static_cast<std::size_t>(number) == rules_.chains.size()) {
    rules_.chains.emplace_back().name = key;
  }
  return number;
}

RuleChain& RuleSetBuilder::define(std::string_view key) {
  auto& chain_there = rules_.chains[static_cast<std::size_t>(chain(key))];
  chain_there.defined = true;
  return chain_there;
}

int RuleSetBuilder::set(std::string_view key) {
  const int number = number_of(set_numbers_, key, rules_.sets.size());
  if (static_cast<std::size_t>(number) == rules_.sets.size()) rules_.sets.emplace_back();
  return number;
}

void RuleSetBuilder::add_rule(std::string_view chain_key, RuleProgram rule) {
  if (full()) return;
  ++rules_count_;
  for (const auto& step : rule) {
    if (std::holds_alternative<SetMark>(step)) rules_.sets_marks = true;
    if (std::holds_alternative<SourceNat>(step)) rules_.translates_source = true;
  }
  rules_.chains[static_cast<std::size_t>(chain(chain_key))].rules.push_back(std::move(rule));
}

RuleSet RuleSetBuilder::finish() && {
  for (auto& set : rules_.sets) std::stable_sort(set.elements.begin(), set.elements.end(), before);
  for (std::size_t i = 0; i < rules_.chains.size(); ++i) {
    if (rules_.chains[i].base) rules_.bases.push_back(static_cast<int>(i));
  }
  std::stable_sort(rules_.bases.begin(), rules_.bases.end(), [&](int one, int other) {
    return rules_.chains[static_cast<std::size_t>(one)].priority <
           rules_.chains[static_cast<std::size_t>(other)].priority;
  });
  return std::move(rules_);
}

}  // namespace sockhop::core
