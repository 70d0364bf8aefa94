#include "sys/route_view.h"

#include <gtest/gtest.h>

#include "tests/support/network_namespace.h"

namespace sockhop {
namespace {

using core::RouteAnswer;
using core::RouteKind;

core::Address address(const char* text) { return *core::Address::parse(text); }

class RouteViewTest : public ::testing::Test {
 protected:
  RouteViewTest() {
    ns_.shell(
        "ip link add d0 type veth peer name d9 && ip link set d9 up && ip link set d0 up &&"
        "ip address add 10.9.0.2/24 dev d0 && ip address add fd09::2/64 dev d0 nodad &&"
        "ip route add default via 10.9.0.1 && ip -6 route add default via fd09::1");
    ns_.run([&] { view_.emplace(*sys::RouteView::open()); });
  }
  RouteAnswer lookup(const char* destination) {
    const auto answer = view_->lookup(address(destination));
    EXPECT_TRUE(answer) << destination;
    return answer ? *answer : RouteAnswer{};
  }
  RouteKind kind(const char* destination) { return lookup(destination).kind; }

  tests::NetworkNamespace ns_;
  std::optional<sys::RouteView> view_;
};

TEST_F(RouteViewTest, FarDestinationGoesByTheGateway) {
  const auto v4 = lookup("203.0.113.7");
  EXPECT_EQ(v4.kind, RouteKind::unicast);
  EXPECT_EQ(v4.gateway, address("10.9.0.1"));
  EXPECT_EQ(v4.source, address("10.9.0.2"));
  EXPECT_GT(v4.device, 1);
  const auto v6 = lookup("2001:db8::7");
  EXPECT_EQ(v6.kind, RouteKind::unicast);
  EXPECT_EQ(v6.gateway, address("fd09::1"));
  EXPECT_EQ(v6.source, address("fd09::2"));
  EXPECT_EQ(v6.device, v4.device);
  EXPECT_FALSE(v4.several_paths || v6.several_paths || v4.encapsulated || v6.encapsulated);
}

TEST_F(RouteViewTest, NeighbourHasNoGateway) {
  EXPECT_FALSE(lookup("10.9.0.77").gateway);
  EXPECT_FALSE(lookup("fd09::77").gateway);
}

TEST_F(RouteViewTest, OwnAddressesAreLocal) {
  for (const char* own : {"10.9.0.2", "127.0.0.1", "127.9.9.9", "fd09::2", "::1"}) {
    EXPECT_EQ(kind(own), RouteKind::local) << own;
  }
}

TEST_F(RouteViewTest, BroadcastAndMulticastAreTold) {
  EXPECT_EQ(kind("10.9.0.255"), RouteKind::broadcast);
  EXPECT_EQ(kind("224.0.0.9"), RouteKind::multicast);
  EXPECT_EQ(kind("ff02::9"), RouteKind::multicast);
}

TEST_F(RouteViewTest, RefusingRoutesAreAnswers) {
  ns_.shell(
      "ip route add unreachable 203.0.113.1 && ip route add prohibit 203.0.113.2 &&"
      "ip route add blackhole 203.0.113.3 && ip -6 route add unreachable 2001:db8::1 &&"
      "ip -6 route add prohibit 2001:db8::2 && ip -6 route add blackhole 2001:db8::3");
  for (const char* refused :
       {"203.0.113.1", "203.0.113.2", "203.0.113.3", "2001:db8::1", "2001:db8::2", "2001:db8::3"}) {
    EXPECT_EQ(kind(refused), RouteKind::refused) << refused;
  }
}

TEST_F(RouteViewTest, NoRouteIsAnAnswer) {
  ns_.shell("ip route del default && ip -6 route del default");
  EXPECT_EQ(kind("203.0.113.1"), RouteKind::none);
  EXPECT_EQ(kind("2001:db8::1"), RouteKind::none);
}

TEST_F(RouteViewTest, MultipathIsSeen) {
  ns_.shell(
      "ip route add 203.0.113.0/24 nexthop via 10.9.0.3 nexthop via 10.9.0.4 &&"
      "ip -6 route add 2001:db8::/32 nexthop via fd09::3 nexthop via fd09::4");
  EXPECT_TRUE(lookup("203.0.113.1").several_paths);
  EXPECT_TRUE(lookup("2001:db8::1").several_paths);
}

TEST_F(RouteViewTest, NextHopGroupIsSeenWhateverTheCompatMode) {
  ns_.shell(
      "ip nexthop add id 1 via 10.9.0.3 dev d0 && ip nexthop add id 2 via 10.9.0.4 dev d0 &&"
      "ip nexthop add id 3 group 1/2 && ip route add 203.0.113.0/25 nhid 3 &&"
      "ip route add 203.0.113.128/25 nhid 1");
  for (const char* mode : {"1", "0"}) {
    ns_.shell(std::string("echo ") + mode + " > /proc/sys/net/ipv4/nexthop_compat_mode");
    EXPECT_TRUE(lookup("203.0.113.1").several_paths) << mode;
  }
  ns_.shell("echo 1 > /proc/sys/net/ipv4/nexthop_compat_mode");
  EXPECT_FALSE(lookup("203.0.113.200").several_paths);
}

TEST_F(RouteViewTest, NextHopOfTheOtherFamilyIsAGateway) {
  ns_.shell("ip route add 203.0.113.0/24 via inet6 fd09::1 dev d0");
  EXPECT_EQ(lookup("203.0.113.1").gateway, address("fd09::1"));
}

TEST_F(RouteViewTest, ManyQuestionsOnOneSocketKeepTheirAnswers) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(kind("127.0.0.1"), RouteKind::local);
    ASSERT_EQ(lookup("203.0.113.1").gateway, address("10.9.0.1"));
  }
}

}  // namespace
}  // namespace sockhop
