#include "core/profile_terms.h"

#include <gtest/gtest.h>

#include <array>

namespace sockhop::core {
namespace {

using Arguments = std::array<std::uint64_t, 6>;

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
      return (argument & c.value) == c.value_two;
  }
  return false;
}

bool contains(const Terms& terms, const Arguments& arguments) {
  for (const Term& term : terms) {
    bool all = true;
    for (const auto& [index, comparison] : term) all = all && holds(comparison, arguments[index]);
    if (all) return true;
  }
  return false;
}

/// Small values, so that every combination can be asked.
template <class Check>
void for_all_arguments(Check check) {
  for (std::uint64_t a = 0; a < 16; ++a) {
    for (std::uint64_t b = 0; b < 16; ++b) check(Arguments{a, b, 0, 0, 0, 0});
  }
}

const std::vector<Terms>& samples() {
  static const std::vector<Terms> all{
      {},
      every_call(),
      {{{0, {Op::eq, 3, 0}}}},
      {{{0, {Op::ne, 3, 0}}}},
      {{{0, {Op::lt, 5, 0}}}},
      {{{0, {Op::ge, 5, 0}}}, {{1, {Op::gt, 9, 0}}}},
      {{{1, {Op::le, 5, 0}}}},
      {{{0, masked_equal(3, 1)}}},
      {{{0, masked_equal(12, 4)}, {1, masked_equal(15, 9)}}},
      {{{0, masked_equal(12, 4)}, {1, masked_equal(15, 9)}},
       {{0, masked_equal(12, 4)}, {1, masked_equal(15, 6)}}},
      {{{0, {Op::eq, 3, 0}}, {1, masked_equal(1, 0)}}, {{0, {Op::eq, 4, 0}}}},
  };
  return all;
}

TEST(ProfileTerms, UnionHoldsWhatEitherHolds) {
  for (const Terms& a : samples()) {
    for (const Terms& b : samples()) {
      const Terms both = unite(a, b);
      for_all_arguments([&](const Arguments& x) {
        ASSERT_EQ(contains(both, x), contains(a, x) || contains(b, x));
      });
    }
  }
}

TEST(ProfileTerms, IntersectionIsExactWhereItCanBeSaid) {
  int said = 0;
  for (const Terms& a : samples()) {
    for (const Terms& b : samples()) {
      const auto both = intersect(a, b);
      if (!both) continue;
      ++said;
      for_all_arguments([&](const Arguments& x) {
        ASSERT_EQ(contains(*both, x), contains(a, x) && contains(b, x));
      });
    }
  }
  EXPECT_GT(said, 80);
}

TEST(ProfileTerms, ComplementIsExactWhereItCanBeSaid) {
  int said = 0;
  for (const Terms& a : samples()) {
    const auto others = complement(a);
    if (!others) continue;
    ++said;
    for_all_arguments([&](const Arguments& x) { ASSERT_NE(contains(*others, x), contains(a, x)); });
  }
  EXPECT_GE(said, 10);
}

TEST(ProfileTerms, SaysNothingRatherThanSomethingWider) {
  EXPECT_FALSE(intersect({{{0, {Op::gt, 5, 0}}}}, {{{0, masked_equal(8, 8)}}}));
  EXPECT_FALSE(intersect({{{0, {Op::gt, 5, 0}}}}, {{{0, {Op::lt, 9, 0}}}}));
}

TEST(ProfileTerms, IgnoresHalvesThatExcludeEachOther) {
  const Terms a{{{0, {Op::gt, 5, 0}}, {1, masked_equal(1, 1)}}};
  const Terms b{{{0, masked_equal(8, 8)}, {1, masked_equal(1, 0)}}};
  const auto both = intersect(a, b);
  ASSERT_TRUE(both);
  EXPECT_TRUE(both->empty());
}

TEST(ProfileTerms, IsBounded) {
  Terms many;
  for (std::uint64_t i = 0; i < 200; ++i) many.push_back({{0, {Op::eq, i, 0}}});
  Terms others;
  for (std::uint64_t i = 0; i < 200; ++i) others.push_back({{1, {Op::eq, i, 0}}});
  EXPECT_FALSE(intersect(many, others));
}

TEST(ProfileTerms, LeavesOutWhatAnotherTermCovers) {
  EXPECT_EQ(unite({{{0, masked_equal(3, 1)}}}, {{{0, masked_equal(1, 1)}}}).size(), 1u);
  EXPECT_TRUE(is_every_call(unite({{{0, masked_equal(3, 1)}}}, every_call())));
}

}  // namespace
}  // namespace sockhop::core
