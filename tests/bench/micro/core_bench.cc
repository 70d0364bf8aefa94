// What the pure part of answering one call costs, without a kernel.
#include <benchmark/benchmark.h>
#include <linux/audit.h>
#include <netinet/in.h>
#include <sys/syscall.h>

#include <cstring>

#include "core/call.h"
#include "core/decide.h"
#include "core/sockaddr.h"

namespace sockhop::core {
namespace {

Endpoint web_server() { return {.address = Address::v4(203, 0, 113, 2), .port = 443}; }

SocketFacts fresh_tcp_socket() {
  SocketFacts facts;
  facts.family = AF_INET;
  facts.type = SOCK_STREAM;
  facts.protocol = IPPROTO_TCP;
  facts.side = Side::container;
  facts.cookie = 1;
  return facts;
}

/// A policy whose rules all have to be looked at: none of them matches.
Policy policy_with_rules(std::int64_t count) {
  Policy policy;
  for (std::int64_t i = 0; i < count; ++i) {
    Rule rule;
    rule.addresses = {.address = Address::v4(10, static_cast<std::uint8_t>(i), 0, 0),
                      .prefix = 112};
    policy.rules.push_back(rule);
  }
  return policy;
}

void decode_connect(benchmark::State& state) {
  const RawCall raw{.number = SYS_connect, .arch = AUDIT_ARCH_X86_64, .args = {5, 0x7ffc0000, 16}};
  for (auto _ : state) benchmark::DoNotOptimize(decode(raw));
}
BENCHMARK(decode_connect);

void parse_ipv4_name(benchmark::State& state) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(443);
  name.sin_addr.s_addr = htonl(0xcb007102);
  const auto bytes = std::as_bytes(std::span(&name, 1));
  for (auto _ : state) benchmark::DoNotOptimize(parse_sockaddr(bytes));
}
BENCHMARK(parse_ipv4_name);

void parse_ipv6_name(benchmark::State& state) {
  sockaddr_in6 name{};
  name.sin6_family = AF_INET6;
  name.sin6_port = htons(443);
  name.sin6_addr = in6addr_loopback;
  const auto bytes = std::as_bytes(std::span(&name, 1));
  for (auto _ : state) benchmark::DoNotOptimize(parse_sockaddr(bytes));
}
BENCHMARK(parse_ipv6_name);

void decide_a_hop(benchmark::State& state) {
  const Policy policy = policy_with_rules(state.range(0));
  const SocketFacts facts = fresh_tcp_socket();
  const std::variant<Reason, HostPath> path = HostPath{.device = 2, .device_name = "eth0"};
  for (auto _ : state) {
    benchmark::DoNotOptimize(decide_before_route(web_server(), facts, policy));
    benchmark::DoNotOptimize(decide_connect(web_server(), facts, policy, path));
  }
}
BENCHMARK(decide_a_hop)->Arg(0)->Arg(16)->Arg(256);

}  // namespace
}  // namespace sockhop::core
