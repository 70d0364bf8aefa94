#include "sys/netlink_watch.h"

#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <string>

#include "sys/route_view.h"
#include "tests/support/network_namespace.h"

namespace sockhop {
namespace {

using tests::NetworkNamespace;

class NetlinkWatchTest : public ::testing::TestWithParam<const char*> {};

// The change is made by another program: when it has returned, the event must be there already.
TEST_P(NetlinkWatchTest, TellsOfAChangeThatHasReturned) {
  const NetworkNamespace ns;
  ns.shell(
      "ip link add d0 type veth peer name d9 && ip link set d9 up && ip link set d0 up && ip "
      "address add 10.9.0.2/24 dev d0 &&"
      "ip address add fd09::2/64 dev d0 nodad && nft add table ip old");
  std::optional<sys::NetlinkWatch> watch;
  ns.run([&] { watch.emplace(*sys::NetlinkWatch::open(sys::Watched::routes_and_rules)); });
  watch->changed();
  EXPECT_FALSE(watch->changed());
  ns.shell(GetParam());
  EXPECT_TRUE(watch->changed());
  EXPECT_FALSE(watch->changed());
}

INSTANTIATE_TEST_SUITE_P(
    Changes, NetlinkWatchTest,
    ::testing::Values("ip route add 203.0.113.0/24 via 10.9.0.1",
                      "ip -6 route add 2001:db8::/32 via fd09::1",
                      "ip rule add to 203.0.113.0/24 lookup 7",
                      "ip -6 rule add to 2001:db8::/32 lookup 7", "ip link add d1 type bridge",
                      "ip address add 10.9.0.3/24 dev d0", "ip address add fd09::3/64 dev d0",
                      "ip nexthop add id 1 via 10.9.0.1 dev d0", "ip link set d0 down",
                      "nft add table ip t", "nft delete table ip old",
                      "iptables-nft -A OUTPUT -d 203.0.113.1 -j DROP"));

TEST(NetlinkWatch, SaysChangedWhenEventsWereLost) {
  const NetworkNamespace ns;
  ns.shell("ip link add d0 type veth peer name d9 && ip link set d9 up && ip link set d0 up");
  std::optional<sys::NetlinkWatch> watch;
  ns.run([&] { watch.emplace(*sys::NetlinkWatch::open(sys::Watched::routes)); });
  ns.shell(
      "for i in $(seq 0 15); do for j in $(seq 0 249); do"
      " echo route add 10.20.$i.$j/32 dev d0; done; done | ip -batch -");
  EXPECT_TRUE(watch->changed());
  while (watch->changed()) {
  }
  ns.shell("ip route add 203.0.113.1 dev d0");
  EXPECT_TRUE(watch->changed());
}

// Root of a container may send messages to netlink sockets of its namespace.
TEST(NetlinkSocket, BelievesNobodyButTheKernel) {
  const NetworkNamespace ns;
  ns.run([] {
    auto socket = *sys::NetlinkSocket::open(NETLINK_ROUTE);
    sockaddr_nl name{};
    socklen_t length = sizeof name;
    ASSERT_EQ(::getsockname(socket.fd().get(), reinterpret_cast<sockaddr*>(&name), &length), 0);
    auto liar = *sys::NetlinkSocket::open(NETLINK_ROUTE);
    sys::NetlinkRequest lie(RTM_NEWROUTE, 0);
    lie.add_header<rtmsg>();
    lie.header->nlmsg_seq = 1;
    ASSERT_GT(::sendto(liar.fd().get(), lie.header, lie.header->nlmsg_len, 0,
                       reinterpret_cast<sockaddr*>(&name), sizeof name),
              0);
    int messages = 0;
    sys::NetlinkRequest request(RTM_GETLINK, 0);
    request.add_header<ifinfomsg>()->ifi_index = 1;
    EXPECT_TRUE(socket.ask(request, [&](const nlmsghdr& message) {
      ++messages;
      EXPECT_EQ(message.nlmsg_type, RTM_NEWLINK);
    }));
    EXPECT_EQ(messages, 1);
  });
}

}  // namespace
}  // namespace sockhop
