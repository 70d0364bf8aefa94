// What it costs to run the rules of a namespace on a connection that is not cached.
#include <benchmark/benchmark.h>

#include "core/filtering.h"

namespace sockhop::core {
namespace {

constexpr RuleVerdict kAccept{RuleVerdict::Kind::accept, -1};
constexpr RuleVerdict kDrop{RuleVerdict::Kind::harm, -1};

Crossing through_docker0() {
  Crossing crossing;
  crossing.source = Address::v4(172, 17, 0, 2);
  crossing.destination = Address::v4(203, 0, 113, 9);
  crossing.port = 443;
  crossing.source_port_is_high = true;
  crossing.made_here = false;
  crossing.in = CrossedDevice{5, "docker0"};
  crossing.out = {3, "tap0"};
  return crossing;
}

RuleProgram drop_port(std::int64_t port) {
  return {LoadHeader{true, 2, 0, 2},
          Compare{Order::equal,
                  0,
                  {static_cast<std::uint8_t>(port >> 8 & 0xff),
                   static_cast<std::uint8_t>(port & 0xff)}},
          kDrop};
}

RuleChain& define_forward(RuleSetBuilder& builder) {
  auto& chain = builder.define("forward");
  chain.base = true;
  chain.hook = Hook::forward;
  return chain;
}

/// Rules that all have to be looked at: none of them matches.
void objection_of_rules(benchmark::State& state) {
  RuleSetBuilder builder;
  define_forward(builder);
  for (std::int64_t i = 0; i < state.range(0); ++i)
    builder.add_rule("forward", drop_port(1000 + i));
  NamespaceRules rules;
  rules.nft = std::move(builder).finish();
  const auto crossing = through_docker0();
  for (auto _ : state) benchmark::DoNotOptimize(objection_to(rules, crossing));
}
BENCHMARK(objection_of_rules)->Arg(0)->Arg(30)->Arg(1000);

/// One rule with a set of addresses that does not hold the destination.
void objection_of_a_set(benchmark::State& state) {
  RuleSetBuilder builder;
  define_forward(builder).drops = false;
  RuleLookupSet set;
  set.open = false;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    RuleSetElement element;
    element.key = {10, static_cast<std::uint8_t>(i >> 8 & 0xff),
                   static_cast<std::uint8_t>(i & 0xff), 1};
    set.elements.push_back(element);
  }
  const int number = builder.set("bad");
  builder.set_at(number) = set;
  builder.add_rule("forward", {LoadHeader{false, 16, 0, 4}, Lookup{number, 0, false}, kDrop});
  builder.add_rule("forward", {kAccept});
  NamespaceRules rules;
  rules.nft = std::move(builder).finish();
  const auto crossing = through_docker0();
  for (auto _ : state) benchmark::DoNotOptimize(objection_to(rules, crossing));
}
BENCHMARK(objection_of_a_set)->Arg(100)->Arg(10'000);

}  // namespace
}  // namespace sockhop::core
