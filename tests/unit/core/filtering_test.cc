#include <gtest/gtest.h>

#include <string>

#include "tests/unit/core/rule_table.h"

namespace sockhop::core {
namespace {

TEST(Filtering, NoRulesPass) {
  EXPECT_EQ(told({}, made_here()), "passes");
  EXPECT_TRUE(passes_everything({}));
}

TEST(Filtering, ARuleObjectsOnlyToWhatItMatches) {
  Table table;
  table.base("out", Hook::output);
  table.rule("out", port_is(25) + RuleProgram{kDrop});
  table.rule("out", net_is("198.51.100.0") + RuleProgram{kDrop});
  const auto rules = table.done();
  EXPECT_EQ(told(rules, made_here()), "passes");
  EXPECT_EQ(told(rules, made_here(25)), "out 1");
  EXPECT_FALSE(passes_everything(rules));
  auto other = made_here();
  other.destination = Address::v4(198, 51, 100, 3);
  EXPECT_EQ(told(rules, other), "out 2");
  EXPECT_EQ(told(rules, through(25)), "passes");
}

TEST(Filtering, ADroppingPolicyIsReachedUnlessSomethingAccepts) {
  Table table;
  table.base("forward", Hook::forward, true);
  table.rule("forward", in_is("docker0") + RuleProgram{kAccept});
  table.rule("forward", out_is("docker0") + state_is_one_of(kEstablished) + RuleProgram{kAccept});
  const auto rules = table.done();
  EXPECT_EQ(told(rules, through()), "passes");
  EXPECT_EQ(told(rules, made_here()), "passes");
  auto other = through();
  other.in = CrossedDevice{6, "br1"};
  EXPECT_EQ(told(rules, other), "forward 0");
  other.in.reset();
  EXPECT_EQ(told(rules, other), "forward 0");
}

TEST(Filtering, AnswersHaveToComeBack) {
  Table table;
  table.base("forward", Hook::forward, true);
  table.rule("forward", in_is("docker0") + RuleProgram{kAccept});
  EXPECT_EQ(told(table.done(), through()), "forward 0");
  Table input;
  input.base("in", Hook::input, true);
  input.rule("in", state_is_one_of(kNew) + RuleProgram{kAccept});
  EXPECT_EQ(told(input.done(), made_here()), "in 0");
}

// The port that is looked for in the packets that come back is the one the kernel chose.
TEST(Filtering, ChosenPortsAreHighOrUnknown) {
  Table table;
  table.base("forward", Hook::forward);
  table.rule("forward", port_is(25) + RuleProgram{kDrop});
  const auto rules = table.done();
  EXPECT_EQ(told(rules, through()), "passes");
  auto low = through();
  low.source_port_is_high = false;
  EXPECT_EQ(told(rules, low), "forward 1");
}

TEST(Filtering, OneState) {
  Table table;
  table.base("out", Hook::output);
  table.rule("out", state_is_one_of(kNew) + port_is(25) + RuleProgram{kDrop});
  table.rule("out", state_is_one_of(4 | 1) + RuleProgram{kDrop});
  EXPECT_EQ(told(table.done(), made_here()), "passes");
}

TEST(Filtering, WhatIsNotUnderstoodDropsButDoesNotAccept) {
  Table drops;
  drops.base("out", Hook::output);
  drops.rule("out", {Unsure{}, kDrop});
  EXPECT_EQ(told(drops.done(), made_here()), "out 1");
  Table accepts;
  accepts.base("out", Hook::output, true);
  accepts.rule("out", {Unsure{}, kAccept});
  EXPECT_EQ(told(accepts.done(), made_here()), "out 0");
  Table both;
  both.base("out", Hook::output);
  both.rule("out", {Unsure{}, kReturn});
  both.rule("out", {Unsure{}, kAccept});
  both.rule("out", port_is(443) + RuleProgram{kAccept});
  both.rule("out", {kDrop});
  EXPECT_EQ(told(both.done(), made_here()), "passes");
}

// Where it is not known whether a chain is left, what comes behind both ways counts.
TEST(Filtering, AnUnsureReturnIsFollowedBothWays) {
  Table table;
  table.base("out", Hook::output);
  table.chain("sub");
  table.rule("out", {table.jump("sub")});
  table.rule("out", {kDrop});
  table.rule("sub", {Unsure{}, kReturn});
  table.rule("sub", {kAccept});
  EXPECT_EQ(told(table.done(), made_here()), "out 2");
}

TEST(Filtering, JumpsComeBackAndGotosDoNot) {
  const auto with = [](bool jumps) {
    Table table;
    table.base("out", Hook::output, true);
    table.chain("sub");
    table.rule("out", {jumps ? table.jump("sub") : table.go_to("sub")});
    table.rule("out", {kAccept});
    table.rule("sub", port_is(25) + RuleProgram{kDrop});
    return table.done();
  };
  EXPECT_EQ(told(with(true), made_here()), "passes");
  EXPECT_EQ(told(with(true), made_here(25)), "sub 1");
  EXPECT_EQ(told(with(false), made_here()), "out 0");
}

TEST(Filtering, ChainsThatCallThemselvesEndInAnObjection) {
  Table table;
  table.base("out", Hook::output);
  table.chain("sub");
  table.rule("out", {table.jump("sub")});
  for (int i = 0; i < 10; ++i) table.rule("sub", {table.jump("sub")});
  EXPECT_EQ(told(table.done(), made_here()), "sub 0");
  Table missing;
  missing.base("out", Hook::output);
  missing.rule("out", {missing.jump("nowhere")});
  EXPECT_EQ(told(missing.done(), made_here()), "nowhere 0");
}

// 30 chains that each jump twice to the next are a billion ways.
TEST(Filtering, WorkIsBounded) {
  Table table;
  table.base("c0", Hook::output);
  for (int i = 0; i < 30; ++i) {
    const auto name = "c" + std::to_string(i);
    const auto next = "c" + std::to_string(i + 1);
    table.chain(next.c_str());
    for (int twice = 0; twice < 2; ++twice) table.rule(name.c_str(), {table.jump(next.c_str())});
  }
  EXPECT_NE(told(table.done(), made_here()), "passes");
}

TEST(Filtering, MarksAreFollowedAsFarAsTheyAreKnown) {
  const auto dropped_at = [](RuleProgram first) {
    Table table;
    table.base("out", Hook::output);
    table.rule("out", std::move(first));
    table.rule("out", mark_is(7) + RuleProgram{kDrop});
    return told(table.done(), made_here());
  };
  EXPECT_EQ(dropped_at({}), "passes");
  EXPECT_EQ(dropped_at(set_mark(7)), "out 2");
  EXPECT_EQ(dropped_at(set_mark(8)), "passes");
  EXPECT_EQ(dropped_at(port_is(25) + set_mark(7)), "passes");
  EXPECT_EQ(dropped_at(RuleProgram{Unsure{}} + set_mark(8)), "out 2");
  EXPECT_EQ(dropped_at({SetMark{0}}), "out 2");
}

TEST(Filtering, AMarkMattersWhereIpRulesSelectByIt) {
  Table table;
  table.base("out", Hook::output);
  table.rule("out", port_is(25) + set_mark(7));
  auto rules = table.done();
  EXPECT_EQ(told(rules, made_here(25)), "passes");
  rules.selectors.mark = true;
  EXPECT_EQ(told(rules, made_here(25)), "ip rule fwmark 0");
  EXPECT_EQ(told(rules, made_here()), "passes");
  EXPECT_FALSE(passes_everything(rules));
}

TEST(Filtering, OtherSelectorsAndShapersObject) {
  NamespaceRules rules;
  rules.selectors.in_device = true;
  EXPECT_EQ(told(rules, made_here()), "passes");
  EXPECT_EQ(told(rules, through()), "ip rule iif 0");
  rules.selectors.anything_else = true;
  EXPECT_EQ(told(rules, made_here()), "ip rule 0");
  NamespaceRules shaped;
  shaped.shapes_or_transforms = true;
  EXPECT_NE(told(shaped, made_here()), "passes");
  EXPECT_NE(told(NamespaceRules::not_readable(), made_here()), "passes");
  for (const auto& one : {rules, shaped, NamespaceRules::not_readable()}) {
    EXPECT_FALSE(passes_everything(one));
  }
}

TEST(Filtering, SourceTranslationPassesAndHidesTheSource) {
  Table table;
  auto& post = table.base("post", Hook::postrouting);
  post.nat = true;
  table.rule("post", {Unsure{}, SourceNat{}});
  auto rules = table.done();
  EXPECT_TRUE(passes_everything(rules));
  EXPECT_TRUE(rules.nft.translates_source);
  Table late;
  late.base("post", Hook::postrouting);
  late.rule("post", net_is("192.168.1.0", 12) + RuleProgram{kDrop});
  EXPECT_EQ(told(late.done(), made_here()), "post 1");
}

TEST(Filtering, AddressTranslationSeesTheFirstPacketOnly) {
  Table table;
  auto& pre = table.base("pre", Hook::prerouting);
  pre.nat = true;
  table.rule("pre", {LoadField{PacketField::destination_type, 0, 4},
                     Compare{Order::equal, 0, {2, 0, 0, 0}}, kDrop});
  EXPECT_EQ(told(table.done(), through()), "passes");
}

TEST(Filtering, FamiliesAreApart) {
  Table table;
  table.base("out", Hook::output).family = RuleFamily::v6;
  table.rule("out", {kDrop});
  const auto rules = table.done();
  EXPECT_EQ(told(rules, made_here()), "passes");
  auto six = made_here();
  six.destination = Address::parse("2001:db8::9").value();
  EXPECT_EQ(told(rules, six), "out 1");
}

TEST(Filtering, RulesOnFramesObjectIfTheyCan) {
  Table table;
  table.base("ingress", Hook::link).family = RuleFamily::link;
  table.rule("ingress", port_is(25) + RuleProgram{kDrop});
  EXPECT_EQ(told(table.done(), made_here()), "ingress 1");
  Table harmless;
  harmless.base("ingress", Hook::link).family = RuleFamily::link;
  harmless.rule("ingress", port_is(25) + RuleProgram{kAccept});
  EXPECT_EQ(told(harmless.done(), made_here()), "passes");
}

}  // namespace
}  // namespace sockhop::core
