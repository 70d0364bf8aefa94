#include "sys/link_view.h"

#include <gtest/gtest.h>
#include <net/if.h>

#include <algorithm>

#include "tests/support/network_namespace.h"

namespace sockhop {
namespace {

using core::DeviceKind;
using tests::NetworkNamespace;

core::Address address(const char* text) { return *core::Address::parse(text); }

sys::LinkView open_view(const NetworkNamespace& ns) {
  std::optional<sys::LinkView> view;
  ns.run([&] { view.emplace(*sys::LinkView::open()); });
  return *std::move(view);
}

int index_of(const NetworkNamespace& ns, const char* name) {
  int index = 0;
  ns.run([&] { index = static_cast<int>(::if_nametoindex(name)); });
  return index;
}

TEST(LinkView, KindsAreToldApart) {
  const NetworkNamespace ns;
  ns.shell(
      "ip tuntap add tap9 mode tap && ip tuntap add tun9 mode tun && ip link add br9 type bridge "
      "&& ip link add ve9 type veth peer name ve8");
  auto view = open_view(ns);
  const auto kind = [&](const char* name) {
    const auto device = view.get(index_of(ns, name));
    EXPECT_TRUE(device) << name;
    EXPECT_EQ(device->name, name);
    return device->kind;
  };
  EXPECT_EQ(kind("lo"), DeviceKind::loopback);
  EXPECT_EQ(kind("tap9"), DeviceKind::tap);
  EXPECT_EQ(kind("tun9"), DeviceKind::tap);
  EXPECT_EQ(kind("br9"), DeviceKind::bridge);
  EXPECT_EQ(kind("ve9"), DeviceKind::veth);
}

TEST(LinkView, PeerIsNamedOnlyAcrossNamespaces) {
  const NetworkNamespace inner;
  const NetworkNamespace outer;
  inner.shell(
      "ip link add here type veth peer name there && ip link add va type veth peer name vb &&"
      "ip link set there netns " +
      outer.path());
  auto inner_view = open_view(inner);
  auto outer_view = open_view(outer);
  const int here = index_of(inner, "here");
  const int there = index_of(outer, "there");
  EXPECT_EQ(inner_view.get(here)->peer_index, there);
  EXPECT_EQ(outer_view.get(there)->peer_index, here);
  EXPECT_EQ(inner_view.get(index_of(inner, "va"))->peer_index, 0);
}

TEST(LinkView, UnknownDeviceIsAnError) {
  const NetworkNamespace ns;
  auto view = open_view(ns);
  const auto device = view.get(4242);
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, ENODEV);
}

TEST(LinkView, AddressesOfADeviceAndOfAll) {
  const NetworkNamespace ns;
  ns.shell(
      "ip link add d0 type veth peer name d9 && ip link set d9 up && ip address add 10.9.0.2/24 "
      "dev d0 &&"
      "ip address add 10.9.1.2 peer 10.9.1.3 dev d0 && ip address add fd09::2/64 dev d0");
  auto view = open_view(ns);
  const auto of_device = view.addresses(index_of(ns, "d0"));
  ASSERT_TRUE(of_device);
  const auto has = [](const auto& all, const char* text) {
    return std::find(all.begin(), all.end(), address(text)) != all.end();
  };
  EXPECT_TRUE(has(*of_device, "10.9.0.2"));
  EXPECT_TRUE(has(*of_device, "10.9.1.2"));
  EXPECT_FALSE(has(*of_device, "10.9.1.3"));
  EXPECT_TRUE(has(*of_device, "fd09::2"));
  EXPECT_FALSE(has(*of_device, "127.0.0.1"));
  const auto all = view.addresses(0);
  ASSERT_TRUE(all);
  EXPECT_TRUE(has(*all, "127.0.0.1"));
  EXPECT_TRUE(has(*all, "::1"));
  EXPECT_TRUE(has(*all, "10.9.0.2"));
}

}  // namespace
}  // namespace sockhop
