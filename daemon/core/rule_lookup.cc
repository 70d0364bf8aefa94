#include "core/rule_lookup.h"

#include <algorithm>

namespace sockhop::core {
namespace {

Match certain_of(const RuleSetElement& element, Match match) {
  return element.unsure ? std::min(match, Match::maybe) : match;
}

// Intervals of one value: from each mark on that begins one, up to the next mark.
std::vector<SetHit> find_interval(const RuleLookupSet& set, const KnownBytes& registers,
                                  std::size_t at) {
  std::vector<SetHit> hits;
  for (std::size_t i = 0; i < set.elements.size(); ++i) {
    const auto& begin = set.elements[i];
    auto match = !registers.less(at, begin.key);
    if (match == Match::no) break;
    if (begin.interval_end) continue;
    if (i + 1 < set.elements.size()) {
      match = std::min(match, registers.less(at, set.elements[i + 1].key));
    }
    match = certain_of(begin, match);
    if (match == Match::yes) return {{&begin, match}};
    if (match == Match::maybe) hits.push_back({&begin, match});
  }
  return hits;
}

// Each field of a concatenation has an interval of its own; fields fill whole registers.
Match in_fields(const RuleLookupSet& set, const RuleSetElement& element,
                const KnownBytes& registers, std::size_t at) {
  auto match = Match::yes;
  std::size_t begin = 0;
  for (const std::size_t length : set.field_lengths) {
    if (begin + length > element.key.size() || begin + length > element.key_end.size()) {
      return Match::maybe;
    }
    const auto cut = [&](const std::vector<std::uint8_t>& bytes) {
      const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(begin);
      return std::vector<std::uint8_t>(from, from + static_cast<std::ptrdiff_t>(length));
    };
    match = std::min(match,
                     registers.in(at + begin, ByteRange{cut(element.key), cut(element.key_end)}));
    begin += (length + 3) / 4 * 4;
  }
  return match;
}

Match matches(const RuleLookupSet& set, const RuleSetElement& element, const KnownBytes& registers,
              std::size_t at) {
  if (!element.key_end.empty()) return in_fields(set, element, registers, at);
  return registers.equals(at, element.key);
}

}  // namespace

std::vector<SetHit> find_in_set(const RuleLookupSet& set, const KnownBytes& registers,
                                std::size_t at) {
  std::vector<SetHit> hits;
  if (set.intervals && set.field_lengths.empty()) {
    hits = find_interval(set, registers, at);
  } else {
    for (const auto& element : set.elements) {
      const auto match = certain_of(element, matches(set, element, registers, at));
      if (match == Match::yes) return {{&element, match}};
      if (match == Match::maybe) hits.push_back({&element, match});
    }
  }
  // The catch-all element is met where no other is.
  for (const auto& element : set.otherwise) {
    if (hits.empty()) return {{&element, certain_of(element, Match::yes)}};
    if (hits.front().match == Match::yes) break;
    hits.push_back({&element, Match::maybe});
  }
  return hits;
}

}  // namespace sockhop::core
