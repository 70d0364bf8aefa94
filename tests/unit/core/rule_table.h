// Rules of one table, written as short as they can be, and connections that meet them.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/filtering.h"

namespace sockhop::core {

using Kind = RuleVerdict::Kind;
using Bytes = std::vector<std::uint8_t>;

const RuleVerdict kAccept{Kind::accept, -1};
const RuleVerdict kDrop{Kind::harm, -1};
const RuleVerdict kReturn{Kind::back, -1};

// Rules of one table, written as short as they can be.
class Table {
 public:
  RuleChain& base(const char* name, Hook hook, bool drops = false) {
    auto& chain = builder_.define(name);
    chain.base = true;
    chain.hook = hook;
    chain.drops = drops;
    return chain;
  }
  void chain(const char* name) { builder_.define(name); }
  void rule(const char* chain, RuleProgram steps) { builder_.add_rule(chain, std::move(steps)); }
  RuleVerdict jump(const char* chain) { return {Kind::jump, builder_.chain(chain)}; }
  RuleVerdict go_to(const char* chain) { return {Kind::go_to, builder_.chain(chain)}; }
  int set(RuleLookupSet set) {
    const int number = builder_.set(std::to_string(++sets_));
    builder_.set_at(number) = std::move(set);
    return number;
  }
  NamespaceRules done() {
    NamespaceRules rules;
    rules.nft = std::move(builder_).finish();
    return rules;
  }

 private:
  RuleSetBuilder builder_;
  int sets_ = 0;
};

inline RuleProgram operator+(RuleProgram one, RuleProgram other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

inline RuleProgram port_is(std::uint16_t port) {
  return {LoadHeader{true, 2, 0, 2},
          Compare{Order::equal,
                  0,
                  {static_cast<std::uint8_t>(port >> 8), static_cast<std::uint8_t>(port & 0xff)}}};
}
inline RuleProgram net_is(const char* text, std::uint16_t offset = 16) {
  const auto address = Address::parse(text).value();
  return {LoadHeader{false, offset, 0, 3},
          Compare{Order::equal, 0, {address.bytes[12], address.bytes[13], address.bytes[14]}}};
}
inline RuleProgram out_is(std::string name) {
  Bytes bytes(16);
  std::copy(name.begin(), name.end(), bytes.begin());
  return {LoadField{PacketField::out_name, 0, 16}, Compare{Order::equal, 0, bytes}};
}
inline RuleProgram in_is(std::string name) {
  auto rule = out_is(std::move(name));
  std::get<LoadField>(rule[0]).field = PacketField::in_name;
  return rule;
}
inline RuleProgram mark_is(std::uint8_t low) {
  return {LoadField{PacketField::mark, 0, 4}, Compare{Order::equal, 0, {low, 0, 0, 0}}};
}
inline RuleProgram set_mark(std::uint8_t low) { return {LoadValue{0, {low, 0, 0, 0}}, SetMark{0}}; }
inline RuleProgram state_is_one_of(std::uint8_t states) {
  return {LoadField{PacketField::ct_state, 0, 4}, Combine{0, 0, {states, 0, 0, 0}, {0, 0, 0, 0}},
          Compare{Order::unequal, 0, {0, 0, 0, 0}}};
}
constexpr std::uint8_t kEstablished = 2;
constexpr std::uint8_t kNew = 8;

inline Crossing made_here(std::uint16_t port = 443) {
  Crossing crossing;
  crossing.source = Address::v4(10, 4, 0, 2);
  crossing.destination = Address::v4(203, 0, 113, 9);
  crossing.port = port;
  crossing.source_port_is_high = true;
  crossing.out = {2, "eth0"};
  return crossing;
}
inline Crossing through(std::uint16_t port = 443) {
  Crossing crossing = made_here(port);
  crossing.made_here = false;
  crossing.in = CrossedDevice{5, "docker0"};
  crossing.out = {3, "tap0"};
  return crossing;
}

inline std::string told(const NamespaceRules& rules, const Crossing& crossing) {
  const auto found = objection_to(rules, crossing);
  return found ? found->chain + " " + std::to_string(found->rule) : "passes";
}

}  // namespace sockhop::core
