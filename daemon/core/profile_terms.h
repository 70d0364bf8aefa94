// Sets of system call arguments, as seccomp rules can express them, with union, intersection and
// complement: what "take our condition out of an ALLOW rule" is made of.
//
// A Term is a conjunction with at most one comparison per argument, because the runtimes read two
// comparisons of one argument in one rule as alternatives. Terms is a union. Some intersections
// have no such form ("above 5" and "bit 3 set"); those answers are nothing, and the caller leaves
// the call alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace sockhop::core {

enum class Op { ne, lt, le, eq, ge, gt, masked_eq };

/// masked_eq: (argument & value) == value_two; the others compare all 64 bits with `value`.
struct Comparison {
  Op op = Op::eq;
  std::uint64_t value = 0;
  std::uint64_t value_two = 0;
  auto operator<=>(const Comparison&) const = default;
};

/// Argument index to comparison; the empty term is every call.
using Term = std::map<unsigned, Comparison>;
/// No term at all: no call.
using Terms = std::vector<Term>;

/// A bound on what an odd profile can make of one name; beyond it an intersection is nothing.
inline constexpr std::size_t kMaxTerms = 256;

Comparison masked_equal(std::uint64_t mask, std::uint64_t value);

Terms every_call();
bool is_every_call(const Terms& terms);

/// Every call of `a` or `b`; a term inside another one is left out.
Terms unite(const Terms& a, const Terms& b);

/// Every call of both, or nothing where rules cannot say it.
std::optional<Terms> intersect(const Terms& a, const Terms& b);

/// Every other call. Terms that begin alike exclude each other at the first difference, because
/// libseccomp's decision tree does not come back from a branch it has entered.
std::optional<Terms> complement(const Terms& terms);

}  // namespace sockhop::core
