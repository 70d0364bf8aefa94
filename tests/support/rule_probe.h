// Rules written by the real tools in a namespace of the test's own, and what they do to
// connections.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "core/filtering.h"
#include "sys/rule_reader.h"
#include "tests/support/network_namespace.h"

namespace sockhop::tests {

// What the rules that real tools write do to connections: to 203.0.113.1:443 (or another port, or
// 2001:db8::1), out of the namespace by eth0, or through it from docker0 to tap0.
struct Probe {
  bool made_here = true;
  std::uint16_t port = 443;
  bool v6 = false;
};
constexpr Probe kOut{};
constexpr Probe kOutToMail{true, 25};
constexpr Probe kOutToWeb{true, 80};
constexpr Probe kOut6{true, 443, true};
constexpr Probe kThrough{false};
constexpr Probe kThroughToMail{false, 25};
constexpr Probe kThroughToWeb{false, 80};
constexpr Probe kThrough6{false, 443, true};

struct RuleCase {
  std::string name;
  std::string commands;
  std::vector<Probe> pass;
  std::vector<Probe> stay;
};

inline void PrintTo(const RuleCase& one, std::ostream* out) { *out << one.name; }

inline core::Crossing crossing_of(const Probe& probe) {
  core::Crossing crossing;
  const auto address = [&](const char* v4, const char* v6) {
    return core::Address::parse(probe.v6 ? v6 : v4).value();
  };
  crossing.destination = address("203.0.113.1", "2001:db8::1");
  crossing.source = address("172.17.0.2", "fd17::2");
  crossing.port = probe.port;
  crossing.source_port_is_high = true;
  crossing.made_here = probe.made_here;
  crossing.out = {2, probe.made_here ? "eth0" : "tap0"};
  if (!probe.made_here) crossing.in = core::CrossedDevice{3, "docker0"};
  return crossing;
}

inline std::string describe(const Probe& probe) {
  return std::string(probe.made_here ? "out" : "through") + (probe.v6 ? " (IPv6)" : "") +
         " to port " + std::to_string(probe.port);
}

inline std::string told(const core::NamespaceRules& rules, const Probe& probe) {
  const auto found = core::objection_to(rules, crossing_of(probe));
  return found ? "stays: " + found->chain + " " + std::to_string(found->rule) : "passes";
}

inline core::NamespaceRules read_of(const NetworkNamespace& ns) {
  std::optional<sys::RuleReader> reader;
  ns.run([&] { reader.emplace(*sys::RuleReader::open()); });
  auto read = reader->read({});
  EXPECT_TRUE(read) << to_string(read.error());
  return read ? std::move(read->rules) : core::NamespaceRules::not_readable();
}

// The body of a parameterised test.
inline void judge(const RuleCase& one) {
  const NetworkNamespace ns;
  ns.shell(one.commands);
  const auto rules = read_of(ns);
  for (const auto& probe : one.pass) EXPECT_EQ(told(rules, probe), "passes") << describe(probe);
  for (const auto& probe : one.stay) {
    EXPECT_TRUE(told(rules, probe).starts_with("stays")) << describe(probe);
  }
}

}  // namespace sockhop::tests
