// The rules of a connect() as tables.
#include "core/decide.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <functional>
#include <string>

namespace sockhop::core {
namespace {

const HostPath kPath{.device = 3, .device_name = "eth0"};

Endpoint endpoint(std::string_view text) { return parse_endpoint(text).value(); }
const Endpoint kFar = endpoint("198.51.100.7:443");

SocketFacts fresh_socket() {
  SocketFacts socket;
  socket.family = AF_INET6;  // reaches both families
  socket.type = SOCK_STREAM;
  socket.protocol = IPPROTO_TCP;
  socket.side = Side::container;
  return socket;
}

Policy with_rules(std::initializer_list<const char*> texts) {
  Policy policy;
  for (const char* text : texts) policy.rules.push_back(parse_rule(text).value());
  return policy;
}

std::string told(const Verdict& verdict) {
  struct Tell {
    std::string operator()(const Stay& stay) const {
      return "stay " + std::string(name_of(stay.reason));
    }
    std::string operator()(const Hop& hop) const {
      return "hop " + hop.device_name + " " + std::to_string(hop.device) + " " +
             std::string(name_of(hop.reason));
    }
    std::string operator()(const Deny& deny) const {
      return "deny " + std::to_string(deny.error) + " " + std::string(name_of(deny.reason));
    }
  };
  return std::visit(Tell{}, verdict);
}

std::string told(const std::optional<Verdict>& verdict) { return verdict ? told(*verdict) : "ask"; }

struct SocketRow {
  const char* what;
  std::function<void(SocketFacts&)> change;
  const char* want;
};

TEST(DecideBeforeRoute, LooksAtTheSocket) {
  const SocketRow rows[] = {
      {"fresh IPv6", [](SocketFacts&) {}, "ask"},
      {"fresh IPv4", [](SocketFacts& s) { s.family = AF_INET; }, "ask"},
      {"unix", [](SocketFacts& s) { s.family = AF_UNIX, s.protocol = 0; }, "stay not_ours"},
      {"udp", [](SocketFacts& s) { s.type = SOCK_DGRAM, s.protocol = IPPROTO_UDP; },
       "stay not_ours"},
      {"raw", [](SocketFacts& s) { s.type = SOCK_RAW; }, "stay not_ours"},
      {"mptcp", [](SocketFacts& s) { s.protocol = IPPROTO_MPTCP; }, "stay not_ours"},
      {"nested namespace", [](SocketFacts& s) { s.side = Side::elsewhere; },
       "stay other_namespace"},
      {"listening", [](SocketFacts& s) { s.state = TcpState::listen; }, "stay already_used"},
      {"established", [](SocketFacts& s) { s.state = TcpState::established; }, "stay already_used"},
      {"connecting", [](SocketFacts& s) { s.state = TcpState::syn_sent; }, "stay already_used"},
      {"bound port", [](SocketFacts& s) { s.local.port = 5000; }, "stay bound"},
      {"bound address", [](SocketFacts& s) { s.local.address = Address::v4(10, 0, 2, 100); },
       "stay bound"},
      {"IPv4 wildcard", [](SocketFacts& s) { s.local.address = Address::v4(0, 0, 0, 0); }, "ask"},
      {"fast open", [](SocketFacts& s) { s.fastopen_connect = true; }, "stay option_not_carried"},
      {"device", [](SocketFacts& s) { s.bound_device = true; }, "stay option_not_carried"},
      {"signal owner", [](SocketFacts& s) { s.has_signal_owner = true; }, "stay signal_owner"},
      {"IPV6_V6ONLY to IPv4", [](SocketFacts& s) { s.v6_only = true; }, "stay not_ours"},
      {"hopped, again", [](SocketFacts& s) { s.side = Side::host, s.bound_device = true; }, "ask"},
  };
  for (const SocketRow& row : rows) {
    SocketFacts socket = fresh_socket();
    row.change(socket);
    EXPECT_EQ(told(decide_before_route(kFar, socket, {})), row.want) << row.what;
  }
}

TEST(DecideBeforeRoute, LeavesAFamilyMismatchToTheKernel) {
  SocketFacts v4 = fresh_socket();
  v4.family = AF_INET;
  EXPECT_EQ(told(decide_before_route(endpoint("[2001:db8::1]:80"), v4, {})), "stay not_ours");
  SocketFacts v6_only = fresh_socket();
  v6_only.v6_only = true;
  EXPECT_EQ(told(decide_before_route(endpoint("[2001:db8::1]:80"), v6_only, {})), "ask");
}

struct DestinationRow {
  const char *destination, *want;
};

// Every spelling of a destination inside, each under a rule that would let it out.
const DestinationRow kInside[] = {
    {"127.0.0.1:80", "stay loopback"},
    {"127.255.0.9:80", "stay loopback"},
    {"[::ffff:127.0.0.1]:80", "stay loopback"},
    {"[::1]:80", "stay loopback"},
    {"[::1%1]:80", "stay loopback"},
    {"0.0.0.0:80", "stay unspecified"},
    {"[::]:80", "stay unspecified"},
    {"[::ffff:0.0.0.0]:80", "stay unspecified"},
    {"224.0.0.1:80", "stay multicast"},
    {"[ff02::1%2]:80", "stay multicast"},
    {"[fe80::1%2]:80", "stay on_link"},
    {"[fe80::1]:80", "stay on_link"},
    {"169.254.169.254:80", "stay on_link"},
};

TEST(DecideBeforeRoute, KeepsWhatMeansTheCallersOwnNamespace) {
  const Policy policy = with_rules({"hop ::/0"});
  for (const DestinationRow& row : kInside) {
    EXPECT_EQ(told(decide_before_route(endpoint(row.destination), fresh_socket(), {})), row.want);
    EXPECT_EQ(told(decide_connect(endpoint(row.destination), fresh_socket(), policy, kPath)),
              row.want)
        << row.destination;
  }
}

TEST(DecideBeforeRoute, KeepsItWithAScopeToo) {
  Endpoint scoped = endpoint("[::1]:80");
  scoped.scope_id = 1;
  EXPECT_EQ(told(decide_before_route(scoped, fresh_socket(), {})), "stay loopback");
  scoped.address = {};
  EXPECT_EQ(told(decide_before_route(scoped, fresh_socket(), {})), "stay unspecified");
}

TEST(DecideBeforeRoute, AppliesRulesInTheirOrder) {
  const Policy policy = with_rules({"hop 198.51.100.1", "deny 198.51.100.2:443",
                                    "deny=eacces 198.51.100.3", "stay 198.51.100.0/24"});
  for (const DestinationRow& row : {DestinationRow{"198.51.100.1:443", "ask"},
                                    {"198.51.100.2:443", "deny 111 rule"},
                                    {"198.51.100.2:442", "stay rule"},
                                    {"198.51.100.3:443", "deny 13 rule"},
                                    {"198.51.100.4:443", "stay rule"},
                                    {"203.0.113.1:443", "ask"}}) {
    EXPECT_EQ(told(decide_before_route(endpoint(row.destination), fresh_socket(), policy)),
              row.want)
        << row.destination;
  }
}

TEST(DecideBeforeRoute, IgnoresRulesOfUdp) {
  EXPECT_EQ(told(decide_before_route(kFar, fresh_socket(), with_rules({"deny ::/0/udp"}))), "ask");
}

TEST(DecideBeforeRoute, StaysWhenSwitchedOff) {
  Policy policy = with_rules({"hop ::/0"});
  policy.accelerate = false;
  EXPECT_EQ(told(decide_before_route(kFar, fresh_socket(), policy)), "stay switched_off");
}

TEST(DecideBeforeRoute, HandsNothingOverUnderStrictDenyRules) {
  Policy policy = with_rules({"hop ::/0", "deny 203.0.113.0/24"});
  policy.strict = true;
  EXPECT_EQ(told(decide_before_route(kFar, fresh_socket(), policy)), "stay rule");
  EXPECT_FALSE(rule_forces_hop(kFar, fresh_socket(), policy, Reason::on_link));
  policy.rules.pop_back();
  EXPECT_EQ(told(decide_before_route(kFar, fresh_socket(), policy)), "ask")
      << "strict without deny";
  policy.rules.insert(policy.rules.begin(), parse_rule("deny 198.51.100.0/24").value());
  EXPECT_EQ(told(decide_before_route(kFar, fresh_socket(), policy)), "deny 111 rule");
}

TEST(RuleForcesHop, SetsAsideOnlyDoubtsAboutTheUplink) {
  const Policy policy = with_rules({"hop 198.51.100.0/24"});
  const auto last = static_cast<int>(Reason::daemon_error);
  std::string forced;
  for (int i = 0; i <= last; ++i) {
    const auto reason = static_cast<Reason>(i);
    if (rule_forces_hop(kFar, fresh_socket(), policy, reason))
      forced += std::string(name_of(reason)) + " ";
  }
  EXPECT_EQ(forced,
            "on_link not_the_uplink unknown_uplink outbound_fixed uplink_maps_it filtered ");
}

TEST(RuleForcesHop, NeedsAHopRuleThatMatchesFirst) {
  EXPECT_FALSE(rule_forces_hop(kFar, fresh_socket(), {}, Reason::on_link));
  EXPECT_FALSE(
      rule_forces_hop(kFar, fresh_socket(), with_rules({"hop 203.0.113.0/24"}), Reason::on_link));
  EXPECT_FALSE(rule_forces_hop(kFar, fresh_socket(), with_rules({"stay ::/0", "hop ::/0"}),
                               Reason::on_link));
  EXPECT_TRUE(rule_forces_hop(kFar, fresh_socket(), with_rules({"hop ::/0", "stay ::/0"}),
                              Reason::on_link));
}

TEST(DecideConnect, HopsAlongTheHostsPath) {
  EXPECT_EQ(told(decide_connect(kFar, fresh_socket(), {}, kPath)), "hop eth0 3 seen_by_route");
  Policy strict;
  strict.strict = true;
  EXPECT_EQ(told(decide_connect(kFar, fresh_socket(), strict, kPath)), "hop eth0 3 seen_by_route");
  SocketFacts does_not_wait = fresh_socket();
  does_not_wait.nonblocking = true;
  EXPECT_EQ(told(decide_connect(kFar, does_not_wait, strict, kPath)), "stay strict");
  EXPECT_EQ(told(decide_connect(kFar, does_not_wait, strict, Reason::on_link)), "stay on_link");
  SocketFacts udp = fresh_socket();
  udp.type = SOCK_DGRAM;
  udp.protocol = IPPROTO_UDP;
  EXPECT_EQ(told(decide_connect(kFar, udp, {}, kPath)), "stay not_ours");
  Policy udp_hops = with_rules({"deny [::]/0:1-99/udp", "deny [::]/0:443/tcp"});
  udp_hops.udp_hop = true;
  EXPECT_EQ(told(decide_connect(kFar, udp, udp_hops, kPath)), "hop eth0 3 seen_by_route");
  EXPECT_EQ(told(decide_connect(endpoint("198.51.100.7:53"), udp, udp_hops, kPath)),
            "deny 111 rule");
  Policy host_local;
  host_local.host_local_hop = true;
  EXPECT_TRUE(hops_to_host(host_local, Reason::host_address));
  EXPECT_FALSE(hops_to_host(host_local, Reason::on_link));
  EXPECT_FALSE(hops_to_host(host_local, kPath));
  EXPECT_FALSE(hops_to_host({}, Reason::host_address));
  EXPECT_EQ(told(decide_connect(kFar, fresh_socket(), with_rules({"hop ::/0"}), kPath)),
            "hop eth0 3 rule");
}

TEST(DecideConnect, StaysForTheReasonOfTheRoute) {
  for (const Reason reason :
       {Reason::on_link, Reason::no_route, Reason::host_address, Reason::several_paths}) {
    EXPECT_EQ(told(decide_connect(kFar, fresh_socket(), {}, reason)),
              "stay " + std::string(name_of(reason)));
  }
}

TEST(DecideConnect, NeverHopsWithoutAPathOfTheHost) {
  EXPECT_EQ(told(decide_connect(kFar, fresh_socket(), with_rules({"hop ::/0"}), Reason::on_link)),
            "stay on_link");
}

TEST(DecideConnect, LetsTheSocketAndTheRulesSpeakFirst) {
  SocketFacts bound = fresh_socket();
  bound.local.port = 1000;
  EXPECT_EQ(told(decide_connect(kFar, bound, {}, kPath)), "stay bound");
  EXPECT_EQ(told(decide_connect(kFar, fresh_socket(), with_rules({"deny ::/0"}), kPath)),
            "deny 111 rule");
}

}  // namespace
}  // namespace sockhop::core
