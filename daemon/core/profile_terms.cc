#include "core/profile_terms.h"

#include <algorithm>

namespace sockhop::core {
namespace {

constexpr std::uint64_t kAllBits = ~std::uint64_t{0};

struct Masked {
  std::uint64_t mask;
  std::uint64_t value;
};

std::optional<Masked> as_masked(const Comparison& c) {
  if (c.op == Op::eq) return Masked{kAllBits, c.value};
  if (c.op == Op::masked_eq) return Masked{c.value, c.value_two & c.value};
  return std::nullopt;
}

bool holds(const Comparison& c, std::uint64_t argument) {
  switch (c.op) {
    case Op::ne:
      return argument != c.value;
    case Op::lt:
      return argument < c.value;
    case Op::le:
      return argument <= c.value;
    case Op::eq:
      return argument == c.value;
    case Op::ge:
      return argument >= c.value;
    case Op::gt:
      return argument > c.value;
    case Op::masked_eq:
      return (argument & c.value) == (c.value_two & c.value);
  }
  return false;
}

/// An empty inner vector: no argument satisfies both. Nothing: no single comparison says it.
using Meeting = std::optional<std::vector<Comparison>>;

Meeting meet_masked(const Masked& a, const Masked& b) {
  if ((a.mask & b.mask & (a.value ^ b.value)) != 0) return Meeting(std::in_place);
  return Meeting({masked_equal(a.mask | b.mask, a.value | b.value)});
}

/// `exact` fixes the whole argument: the other comparison is true or false of it.
Meeting meet_exact(const Comparison& exact, const Comparison& other) {
  if (holds(other, exact.value)) return Meeting({exact});
  return Meeting(std::in_place);
}

Meeting meet(const Comparison& a, const Comparison& b) {
  if (a == b) return Meeting({a});
  if (a.op == Op::eq) return meet_exact(a, b);
  if (b.op == Op::eq) return meet_exact(b, a);
  const std::optional<Masked> masked_a = as_masked(a);
  const std::optional<Masked> masked_b = as_masked(b);
  if (masked_a && masked_b) return meet_masked(*masked_a, *masked_b);
  // "Not this value" says nothing new beside a mask that the value does not fit.
  if (masked_a && b.op == Op::ne && !holds(a, b.value)) return Meeting({a});
  if (masked_b && a.op == Op::ne && !holds(b, a.value)) return Meeting({b});
  return std::nullopt;
}

bool implies(const Comparison& a, const Comparison& b) {
  const std::optional<Masked> masked_a = as_masked(a);
  const std::optional<Masked> masked_b = as_masked(b);
  if (!masked_a || !masked_b) return a == b;
  return (masked_b->mask & ~masked_a->mask) == 0 &&
         (masked_a->value & masked_b->mask) == masked_b->value;
}

bool inside(const Term& inner, const Term& outer) {
  return std::all_of(outer.begin(), outer.end(), [&](const auto& condition) {
    const auto same = inner.find(condition.first);
    return same != inner.end() && implies(same->second, condition.second);
  });
}

void add_term(Terms& terms, const Term& term) {
  const auto covers = [&](const Term& other) { return inside(term, other); };
  if (std::any_of(terms.begin(), terms.end(), covers)) return;
  std::erase_if(terms, [&](const Term& other) { return inside(other, term); });
  terms.push_back(term);
}

/// Precondition: the terms do not exclude each other. Nothing: no single term says it.
std::optional<Term> meet_terms(const Term& a, const Term& b) {
  Term out = a;
  for (const auto& [index, comparison] : b) {
    const auto [same, added] = out.emplace(index, comparison);
    if (added) continue;
    const Meeting meeting = meet(same->second, comparison);
    if (!meeting || meeting->empty()) return std::nullopt;
    same->second = meeting->front();
  }
  return out;
}

/// Do the terms exclude each other in one argument, whatever the others say?
bool exclude(const Term& a, const Term& b) {
  return std::any_of(b.begin(), b.end(), [&](const auto& condition) {
    const auto same = a.find(condition.first);
    if (same == a.end()) return false;
    const Meeting meeting = meet(same->second, condition.second);
    return meeting && meeting->empty();
  });
}

std::vector<Comparison> opposite_of_mask(const Masked& masked) {
  std::vector<Comparison> out;
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uint64_t mask = std::uint64_t{1} << bit;
    if ((masked.mask & mask) != 0) out.push_back(masked_equal(mask, ~masked.value & mask));
  }
  return out;
}

std::vector<Comparison> opposite(const Comparison& c) {
  switch (c.op) {
    case Op::ne:
      return {{Op::eq, c.value, 0}};
    case Op::lt:
      return {{Op::ge, c.value, 0}};
    case Op::le:
      return {{Op::gt, c.value, 0}};
    case Op::eq:
      return {{Op::ne, c.value, 0}};
    case Op::ge:
      return {{Op::lt, c.value, 0}};
    case Op::gt:
      return {{Op::le, c.value, 0}};
    case Op::masked_eq:
      return opposite_of_mask({c.value, c.value_two & c.value});
  }
  return {};
}

/// not (A and B and C) as: not A; A and not B; A and B and not C.
Terms opposite_of_term(const Term& term) {
  Terms out;
  Term kept;
  for (const auto& [index, comparison] : term) {
    for (const Comparison& other : opposite(comparison)) {
      Term branch = kept;
      branch.emplace(index, other);
      out.push_back(branch);
    }
    kept.emplace(index, comparison);
  }
  return out;
}

}  // namespace

Comparison masked_equal(std::uint64_t mask, std::uint64_t value) {
  return {Op::masked_eq, mask, value};
}

Terms every_call() { return {Term{}}; }

bool is_every_call(const Terms& terms) {
  return std::any_of(terms.begin(), terms.end(), [](const Term& term) { return term.empty(); });
}

Terms unite(const Terms& a, const Terms& b) {
  Terms out = a;
  for (const Term& term : b) add_term(out, term);
  return out;
}

std::optional<Terms> intersect(const Terms& a, const Terms& b) {
  Terms out;
  for (const Term& left : a) {
    for (const Term& right : b) {
      if (exclude(left, right)) continue;
      const std::optional<Term> both = meet_terms(left, right);
      if (!both) return std::nullopt;
      add_term(out, *both);
      if (out.size() > kMaxTerms) return std::nullopt;
    }
  }
  return out;
}

std::optional<Terms> complement(const Terms& terms) {
  std::optional<Terms> out = every_call();
  for (const Term& term : terms) {
    out = intersect(*out, opposite_of_term(term));
    if (!out) return std::nullopt;
  }
  return out;
}

}  // namespace sockhop::core
