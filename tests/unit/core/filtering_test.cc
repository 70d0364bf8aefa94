#include "core/filtering.h"

#include <gtest/gtest.h>

namespace sockhop::core {
namespace {

Filtering of(const RuleExpression& expression) {
  FilteringSum sum;
  sum.add_expression(expression);
  return sum.result();
}

TEST(Filtering, NothingIsNone) { EXPECT_EQ(FilteringSum().result(), Filtering::none); }

TEST(Filtering, SourceTranslationAndLooksAreHarmless) {
  EXPECT_EQ(of({.name = "masq"}), Filtering::masquerade_only);
  EXPECT_EQ(of({.name = "nat", .nat_type = 0}), Filtering::masquerade_only);
  EXPECT_EQ(of({.name = "target", .target = "MASQUERADE"}), Filtering::masquerade_only);
  EXPECT_EQ(of({.name = "payload"}), Filtering::masquerade_only);
  EXPECT_EQ(of({.name = "immediate", .verdict = 1}), Filtering::masquerade_only);
}

TEST(Filtering, WhatRewritesStopsOrIsNotKnownIsUnknown) {
  EXPECT_EQ(of({.name = "nat", .nat_type = 1}), Filtering::unknown);
  EXPECT_EQ(of({.name = "nat"}), Filtering::unknown);
  EXPECT_EQ(of({.name = "target", .target = "DNAT"}), Filtering::unknown);
  EXPECT_EQ(of({.name = "payload", .writes = true}), Filtering::unknown);
  EXPECT_EQ(of({.name = "immediate", .verdict = 0}), Filtering::unknown);
  EXPECT_EQ(of({.name = "of a later kernel"}), Filtering::unknown);
  EXPECT_EQ(of({}), Filtering::unknown);
}

TEST(Filtering, OneHarmfulRuleOutweighsAll) {
  FilteringSum sum;
  sum.add_policy(0);
  sum.add_policy(1);
  sum.add_expression({.name = "masq"});
  EXPECT_EQ(sum.result(), Filtering::unknown);
}

TEST(Filtering, LegacyVerdicts) {
  const auto legacy = [](std::string_view target, std::int32_t verdict) {
    FilteringSum sum;
    sum.add_legacy_target(target, verdict);
    return sum.result();
  };
  EXPECT_EQ(legacy("", -2), Filtering::masquerade_only);   // ACCEPT
  EXPECT_EQ(legacy("", -5), Filtering::masquerade_only);   // RETURN
  EXPECT_EQ(legacy("", 152), Filtering::masquerade_only);  // a jump
  EXPECT_EQ(legacy("", -1), Filtering::unknown);           // DROP
  EXPECT_EQ(legacy("", -4), Filtering::unknown);           // QUEUE
  EXPECT_EQ(legacy("REDIRECT", 0), Filtering::unknown);
}

}  // namespace
}  // namespace sockhop::core
