#include <gtest/gtest.h>

#include <string>

#include "tests/unit/core/rule_table.h"

namespace sockhop::core {
namespace {

RuleLookupSet ports(std::vector<RuleSetElement> elements, bool intervals) {
  RuleLookupSet set;
  set.intervals = intervals;
  set.open = false;
  set.elements = std::move(elements);
  return set;
}
RuleSetElement port_element(std::uint16_t port, RuleVerdict verdict = kDrop) {
  RuleSetElement element;
  element.key = {static_cast<std::uint8_t>(port >> 8), static_cast<std::uint8_t>(port & 0xff)};
  element.verdict = verdict;
  return element;
}
RuleSetElement end_at(std::uint16_t port) {
  auto element = port_element(port);
  element.interval_end = true;
  return element;
}

std::string told_with_set(RuleLookupSet set, Lookup lookup, std::uint16_t port) {
  Table table;
  table.base("out", Hook::output);
  lookup.set = table.set(std::move(set));
  table.rule("out", {LoadHeader{true, 2, 0, 2}, lookup, kDrop});
  return told(table.done(), made_here(port));
}

TEST(RuleLookup, SetsOfSingleValues) {
  const auto set = ports({port_element(80), port_element(25)}, false);
  EXPECT_EQ(told_with_set(set, {0, 0, false}, 80), "out 1");
  EXPECT_EQ(told_with_set(set, {0, 0, false}, 443), "passes");
  EXPECT_EQ(told_with_set(set, {0, 0, true}, 443), "out 1");
  EXPECT_EQ(told_with_set(set, {0, 0, true}, 25), "passes");
  auto open = set;
  open.open = true;
  EXPECT_EQ(told_with_set(open, {0, 0, false}, 443), "out 1");
  EXPECT_EQ(told_with_set(open, {0, 0, true}, 80), "out 1");
}

TEST(RuleLookup, SetsOfIntervals) {
  const auto set = ports({port_element(6000), end_at(7000), end_at(0), port_element(20), end_at(30),
                          port_element(30), end_at(40)},
                         true);
  for (const int in : {20, 29, 30, 39, 6000, 6999}) {
    EXPECT_EQ(told_with_set(set, {0, 0, false}, static_cast<std::uint16_t>(in)), "out 1") << in;
  }
  for (const int out : {0, 19, 40, 5999, 7000, 65535}) {
    EXPECT_EQ(told_with_set(set, {0, 0, false}, static_cast<std::uint16_t>(out)), "passes") << out;
  }
  EXPECT_EQ(told_with_set(ports({port_element(60000)}, true), {0, 0, false}, 65535), "out 1");
}

TEST(RuleLookup, VerdictMaps) {
  Lookup lookup{0, 0, false};
  lookup.verdict = true;
  auto set = ports({port_element(80, kAccept), port_element(25, kDrop)}, false);
  const auto told_by_map = [&](std::uint16_t port) {
    Table table;
    table.base("out", Hook::output);
    lookup.set = table.set(set);
    table.rule("out", {LoadHeader{true, 2, 0, 2}, lookup});
    return told(table.done(), made_here(port));
  };
  EXPECT_EQ(told_by_map(80), "passes");
  EXPECT_EQ(told_by_map(25), "out 1");
  EXPECT_EQ(told_by_map(443), "passes");
  set.otherwise = {port_element(0, kDrop)};
  EXPECT_EQ(told_by_map(80), "passes");
  EXPECT_EQ(told_by_map(443), "out 1");
  set.open = true;
  EXPECT_EQ(told_by_map(80), "out 1");
}

TEST(RuleLookup, ConcatenationsOfIntervals) {
  RuleLookupSet set;
  set.intervals = true;
  set.open = false;
  set.field_lengths = {4, 2};
  RuleSetElement element;
  element.key = {203, 0, 113, 0, 0, 80, 0, 0};
  element.key_end = {203, 0, 113, 255, 1, 187, 0, 0};
  set.elements = {element};
  const auto told_at = [&](std::uint16_t port, std::uint8_t third) {
    Table table;
    table.base("out", Hook::output);
    Lookup lookup{table.set(set), 0, false};
    table.rule("out", {LoadHeader{false, 16, 0, 4}, LoadHeader{true, 2, 4, 2}, lookup, kDrop});
    auto crossing = made_here(port);
    crossing.destination = Address::v4(203, 0, third, 9);
    return told(table.done(), crossing);
  };
  EXPECT_EQ(told_at(443, 113), "out 1");
  EXPECT_EQ(told_at(80, 113), "out 1");
  EXPECT_EQ(told_at(444, 113), "passes");
  EXPECT_EQ(told_at(443, 114), "passes");
}

}  // namespace
}  // namespace sockhop::core
