// Where a destination goes, asked of three real namespaces, while routes and rules change.
//
//   container eth0 --- veth7 in bridge docker0, middle tap0 --- (uplink)   host wan, lan
#include "engine/path.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "sys/cpu_clock.h"
#include "tests/support/network_namespace.h"

namespace sockhop {
namespace {

using tests::NetworkNamespace;

core::Address address(const char* text) { return *core::Address::parse(text); }

engine::PathPlace place(const char* name, const NetworkNamespace& ns, sys::Standpoint standpoint) {
  engine::PathPlace made{name, 0, nullptr};
  struct stat facts {};
  EXPECT_EQ(::stat(ns.path().c_str(), &facts), 0);
  made.netns_inode = facts.st_ino;
  ns.run([&] {
    auto views = sys::NamespaceViews::open(standpoint);
    ASSERT_TRUE(views) << to_string(views.error());
    made.questions = std::move(*views);
  });
  return made;
}

class RealPathTest : public ::testing::Test {
 protected:
  RealPathTest() {
    middle_.shell(
        "ip link add docker0 type bridge && ip address add 172.17.0.1/16 dev docker0 &&"
        "ip address add fd17::1/64 dev docker0 nodad && ip link set docker0 up &&"
        "ip tuntap add tap0 mode tap && ip address add 10.0.2.100/24 dev tap0 &&"
        "ip address add fd00::100/64 dev tap0 nodad && ip link set tap0 up &&"
        "ip route add default via 10.0.2.2 && ip -6 route add default via fd00::2 &&"
        "ip link add veth7 master docker0 type veth peer name eth0 && ip link set veth7 up &&"
        "ip link set eth0 netns " +
        container_.path());
    container_.shell(
        "ip address add 172.17.0.2/16 dev eth0 && ip address add fd17::2/64 dev eth0 nodad &&"
        "ip link set eth0 up && ip route add default via 172.17.0.1 &&"
        "ip -6 route add default via fd17::1");
    host_.shell(
        "ip tuntap add wan mode tap && ip address add 10.9.0.2/24 dev wan && ip link set wan up &&"
        "ip tuntap add lan mode tap && ip address add 10.8.0.2/24 dev lan && ip link set lan up &&"
        "ip address add fd09::2/64 dev wan nodad && ip -6 route add default via fd09::1 &&"
        "ip route add default via 10.9.0.1");
    auto middle = place("middle", middle_, sys::Standpoint::inside);
    uplink_.netns_inode = middle.netns_inode;
    uplink_.device = "tap0";
    engine::PathPlaces places{place("container", container_, sys::Standpoint::inside),
                              {},
                              place("host", host_, sys::Standpoint::outside)};
    places.middle.push_back(std::move(middle));
    finder_.emplace(std::move(places), std::vector{uplink_},
                    std::make_unique<sys::SystemCpuClock>());
  }

  /// Tried on a veth of a namespace of its own.
  static bool kernel_has(const std::string& device_type) {
    const NetworkNamespace ns;
    int result = -1;
    ns.run([&] {
      result =
          std::system(("ip link add a0 type veth peer name a1 && ip link add x0 link a0 type " +
                       device_type + " 2>/dev/null")
                          .c_str());
    });
    return result == 0;
  }

  std::string told(const char* destination = "203.0.113.9", std::uint16_t port = 443) {
    const auto path = finder_->find({address(destination), port, 0});
    if (const auto* reason = std::get_if<core::Reason>(&path)) {
      return std::string(name_of(*reason));
    }
    return "hops by " + std::get<core::HostPath>(path).device_name;
  }

  NetworkNamespace container_;
  NetworkNamespace middle_;
  NetworkNamespace host_;
  core::Uplink uplink_;
  std::optional<engine::PathFinder> finder_;
};

TEST_F(RealPathTest, OrdinaryDestinationsHopByTheDeviceOfTheHostsRoute) {
  EXPECT_EQ(told(), "hops by wan");
  EXPECT_EQ(told("2001:db8::9"), "hops by wan");
  EXPECT_EQ(told("10.8.0.77"), "hops by lan");
  EXPECT_EQ(told("172.17.0.1"), "on_link");
  EXPECT_EQ(told("172.17.0.2"), "local_address");
  EXPECT_EQ(told("10.0.2.2"), "on_link");
  EXPECT_EQ(told("10.9.0.2"), "host_address");
}

struct Change {
  std::string name;
  enum class Where { container, middle, host } where;
  std::string command;
  std::string undo;
  std::string told;
  std::string needs{};  // a kind of device that kernels may lack
};
void PrintTo(const Change& one, std::ostream* out) { *out << one.name; }

class ChangingPathTest : public RealPathTest, public ::testing::WithParamInterface<Change> {};

// The next answer after the command returned follows the change, and again when it is undone.
TEST_P(ChangingPathTest, IsFollowedAtOnce) {
  const auto& change = GetParam();
  if (!change.needs.empty() && !kernel_has(change.needs)) {
    GTEST_SKIP() << "this kernel has no " << change.needs;
  }
  const auto& ns = change.where == Change::Where::container ? container_
                   : change.where == Change::Where::middle  ? middle_
                                                            : host_;
  EXPECT_EQ(told(), "hops by wan");
  ns.shell(change.command);
  EXPECT_EQ(told(), change.told);
  ns.shell(change.undo);
  EXPECT_EQ(told(), "hops by wan");
}

constexpr auto kContainer = Change::Where::container;
constexpr auto kMiddle = Change::Where::middle;
constexpr auto kHost = Change::Where::host;

INSTANTIATE_TEST_SUITE_P(
    Routes, ChangingPathTest,
    ::testing::Values(
        Change{"Unreachable", kContainer, "ip route add unreachable 203.0.113.0/24",
               "ip route del unreachable 203.0.113.0/24", "refused_route"},
        Change{"NoDefaultRoute", kContainer, "ip route del default",
               "ip route add default via 172.17.0.1", "no_route"},
        Change{"OwnAddress", kContainer, "ip address add 203.0.113.9/32 dev eth0",
               "ip address del 203.0.113.9/32 dev eth0", "local_address"},
        Change{"OnLink", kContainer, "ip address add 203.0.113.1/24 dev eth0",
               "ip address del 203.0.113.1/24 dev eth0", "on_link"},
        Change{"Multipath", kContainer,
               "ip route add 203.0.113.0/24 nexthop via 172.17.0.1 nexthop via 172.17.0.3",
               "ip route del 203.0.113.0/24", "several_paths"},
        Change{"LightweightTunnel", kContainer,
               "ip route add 203.0.113.0/24 encap ip id 7 dst 10.1.1.1 via 172.17.0.1 dev eth0",
               "ip route del 203.0.113.0/24", "encapsulated"},
        Change{"Tun", kContainer,
               "ip tuntap add vpn0 mode tun && ip address add 10.7.0.2/24 dev vpn0 && ip link set "
               "vpn0 up && ip route add 203.0.113.0/24 via 10.7.0.1",
               "ip link del vpn0", "unknown_uplink"},
        Change{"TunWithoutGateway", kContainer,
               "ip tuntap add vpn0 mode tun && ip link set vpn0 up && ip route add 203.0.113.0/24 "
               "dev vpn0",
               "ip link del vpn0", "on_link"},
        Change{"Macvlan", kContainer,
               "ip link add mv0 link eth0 type macvlan && ip address add 10.7.0.2/24 dev mv0 && "
               "ip link set mv0 up && ip route add 203.0.113.0/24 via 10.7.0.1",
               "ip link del mv0", "not_the_uplink", "macvlan"},
        Change{
            "Ipvlan", kContainer,
            "ip link add iv0 link eth0 type ipvlan mode l2 && ip address add 10.7.0.2/24 dev iv0 "
            "&& ip link set iv0 up && ip route add 203.0.113.0/24 via 10.7.0.1",
            "ip link del iv0", "not_the_uplink", "ipvlan"},
        Change{
            "Vxlan", kContainer,
            "ip link add vx0 type vxlan id 7 dev eth0 remote 10.1.1.1 dstport 4789 && ip address "
            "add 10.7.0.2/24 dev vx0 && ip link set vx0 up && ip route add 203.0.113.0/24 via "
            "10.7.0.1",
            "ip link del vx0", "not_the_uplink", "vxlan id 7 remote 10.1.1.1 dstport 4789"},
        Change{
            "VethIntoElsewhere", kContainer,
            "ip link add ve0 type veth peer name ve1 && ip link set ve0 up && ip link set ve1 up "
            "&& ip address add 10.7.0.2/24 dev ve0 && ip route add 203.0.113.0/24 via 10.7.0.1",
            "ip link del ve0", "not_the_uplink"},
        Change{"MiddleRoute", kMiddle, "ip route add prohibit 203.0.113.0/24",
               "ip route del prohibit 203.0.113.0/24", "refused_route"},
        Change{
            "MiddleBridge", kMiddle,
            "ip link add br1 type bridge && ip link set br1 up && ip address add 10.7.0.1/24 dev "
            "br1 && ip route add 203.0.113.0/24 via 10.7.0.3",
            "ip link del br1", "not_the_uplink"},
        Change{"HostDevice", kHost, "ip route add 203.0.113.0/24 via 10.8.0.1",
               "ip route del 203.0.113.0/24", "hops by lan"},
        Change{"HostAddress", kHost, "ip address add 203.0.113.9/32 dev lan",
               "ip address del 203.0.113.9/32 dev lan", "host_address"},
        Change{"HostMultipath", kHost,
               "ip route add 203.0.113.0/24 nexthop via 10.8.0.1 nexthop via 10.9.0.1",
               "ip route del 203.0.113.0/24", "several_paths"},
        Change{"HostRefuses", kHost, "ip route add blackhole 203.0.113.0/24",
               "ip route del blackhole 203.0.113.0/24", "host_no_route"}),
    [](const auto& one) { return one.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Rules, ChangingPathTest,
    ::testing::Values(
        Change{"RuleToATable", kContainer,
               "ip route add unreachable default table 7 && ip rule add to 203.0.113.0/24 lookup 7",
               "ip rule del to 203.0.113.0/24 lookup 7", "refused_route"},
        Change{"RuleByUser", kContainer, "ip rule add uidrange 5-6 lookup 7",
               "ip rule del uidrange 5-6 lookup 7", "filtered"},
        Change{"RuleNotByMark", kContainer,
               "ip route add unreachable default table 7 && ip rule add not fwmark 7 lookup 7",
               "ip rule del not fwmark 7 lookup 7", "refused_route"},
        Change{"RuleByMiddlesDevice", kMiddle, "ip rule add iif docker0 lookup 7",
               "ip rule del iif docker0 lookup 7", "filtered"},
        Change{"Nft", kContainer,
               "nft 'table inet f { chain o { type filter hook output priority 0; ip daddr "
               "203.0.113.0/24 drop; }; }'",
               "nft delete table inet f", "filtered"},
        Change{
            "NftSetElement", kMiddle,
            "nft 'table inet f { set bad { type ipv4_addr; }; chain o { type filter hook forward "
            "priority 0; ip daddr @bad drop; }; }' && nft add element inet f bad { 203.0.113.9 }",
            "nft delete element inet f bad { 203.0.113.9 }", "filtered"},
        Change{"MiddleRedirect", kMiddle,
               "iptables-nft -t nat -A PREROUTING -i docker0 -p tcp --dport 443 -j REDIRECT "
               "--to-ports 8443",
               "iptables-nft -t nat -F PREROUTING", "filtered"},
        Change{"MiddleOtherDevice", kMiddle,
               "iptables-nft -P FORWARD DROP && iptables-nft -A FORWARD -i docker0 -j ACCEPT && "
               "iptables-nft -A FORWARD -o docker0 -j ACCEPT",
               "iptables-nft -A FORWARD -i eth9 -j DROP", "hops by wan"},
        Change{"Classifier", kMiddle, "tc qdisc add dev tap0 clsact",
               "tc qdisc del dev tap0 clsact", "filtered"}),
    [](const auto& one) { return one.param.name; });

// Legacy tables tell nobody when they change: they are read again once a second.
TEST_F(RealPathTest, LegacyTablesAreFollowedWithinASecond) {
  EXPECT_EQ(told(), "hops by wan");
  middle_.shell("iptables-legacy -A FORWARD -d 203.0.113.0/24 -j DROP");
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (told() != "filtered" && std::chrono::steady_clock::now() < deadline) {
  }
  EXPECT_EQ(told(), "filtered");
  EXPECT_EQ(told("198.51.100.9"), "hops by wan");
}

TEST_F(RealPathTest, EachOfSeveralUplinksCarriesItsOwnRoutes) {
  middle_.shell(
      "ip tuntap add tap1 mode tap && ip address add 10.0.3.100/24 dev tap1 && ip link set tap1 up "
      "&& ip route add 203.0.113.0/24 via 10.0.3.2");
  EXPECT_EQ(told(), "unknown_uplink");
  auto second = uplink_;
  second.device = "tap1";
  finder_->set_uplinks({uplink_, second});
  EXPECT_EQ(told(), "hops by wan");
  EXPECT_EQ(told("198.51.100.9"), "hops by wan");
  second.outbound_fixed = true;
  finder_->set_uplinks({uplink_, second});
  EXPECT_EQ(told(), "outbound_fixed");
  EXPECT_EQ(told("198.51.100.9"), "hops by wan");
}

// pasta gives the namespace the host's own address: then the neighbours are the host's neighbours.
TEST_F(RealPathTest, PastaThatCopiedTheHostsAddress) {
  middle_.shell(
      "ip address flush dev tap0 && ip address add 10.9.0.2/24 dev tap0 && ip route add default "
      "via "
      "10.9.0.1");
  auto pasta = uplink_;
  pasta.kind = core::UplinkKind::pasta;
  pasta.mapped = {address("198.51.100.53")};
  finder_->set_uplinks({pasta});
  EXPECT_EQ(told(), "hops by wan");
  EXPECT_EQ(told("10.9.0.77"), "hops by wan");
  EXPECT_EQ(told("10.9.0.2"), "local_address");
  EXPECT_EQ(told("10.8.0.2"), "host_address");
  EXPECT_EQ(told("10.9.0.1"), "uplink_maps_it");
  EXPECT_EQ(told("198.51.100.53"), "uplink_maps_it");
  middle_.shell("ip route replace default via 10.9.0.77");
  EXPECT_EQ(told("10.9.0.77"), "uplink_maps_it");
  EXPECT_EQ(told("10.9.0.1"), "hops by wan");
  host_.shell("ip address del 10.9.0.2/24 dev wan && ip address add 10.9.0.3/24 dev wan");
  EXPECT_EQ(told("10.9.0.78"), "on_link");
}

TEST_F(RealPathTest, ExplainNamesTheRule) {
  middle_.shell(
      "nft 'table ip f { chain fw { type filter hook forward priority 0; counter; tcp dport 443 "
      "drop; }; }'");
  std::string all;
  for (const auto& step : finder_->explain({address("203.0.113.9"), 443, 0})) {
    all += step.where + ": " + step.what + "\n";
  }
  EXPECT_NE(all.find("middle: ip f fw, rule 2, may stop or change it\n"), std::string::npos) << all;
  EXPECT_EQ(told("203.0.113.9", 80), "hops by wan");
}

}  // namespace
}  // namespace sockhop
