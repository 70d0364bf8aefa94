#include "core/route_answer.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace sockhop::core {
namespace {

Address address(std::string_view text) { return Address::parse(text).value(); }

const Address kFar = address("198.51.100.7");
const Address kGateway = address("10.0.2.2");

// A container behind slirp4netns whose default route leads to the gateway.
NamespaceAnswer behind_slirp() {
  NamespaceAnswer answer;
  answer.route = {.kind = RouteKind::unicast, .device = 2, .gateway = kGateway, .source = {}};
  answer.device = {.index = 2, .name = "tap0", .kind = DeviceKind::tap};
  answer.uplink =
      Uplink{.netns_inode = 1, .device = "tap0", .kind = UplinkKind::slirp4netns, .mapped = {}};
  return answer;
}

NamespaceAnswer behind_pasta() {
  NamespaceAnswer answer = behind_slirp();
  answer.uplink->kind = UplinkKind::pasta;
  answer.uplink_address_is_hosts = true;
  return answer;
}

NamespaceAnswer behind_veth() {
  NamespaceAnswer answer = behind_slirp();
  answer.uplink.reset();
  answer.device = {.index = 2,
                   .name = "eth0",
                   .kind = DeviceKind::veth,
                   .peer_index = 5,
                   .peer_in_middle = true};
  return answer;
}

std::string told(const RouteStep& step) {
  struct Tell {
    std::string operator()(Reason reason) const { return std::string(name_of(reason)); }
    std::string operator()(AskMiddle) const { return "AskMiddle"; }
    std::string operator()(AskHost) const { return "AskHost"; }
  };
  return std::visit(Tell{}, step);
}

struct Row {
  const char* what;
  NamespaceAnswer (*base)();
  std::function<void(NamespaceAnswer&)> change;
  const char* want;
  Address destination = kFar;
};

void expect_rows(std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    NamespaceAnswer answer = row.base();
    row.change(answer);
    EXPECT_EQ(told(step_from(row.destination, answer)), row.want) << row.what;
  }
}

auto kind(RouteKind value) {
  return [value](NamespaceAnswer& a) { a.route.kind = value; };
}
void nothing(NamespaceAnswer&) {}
void on_link(NamespaceAnswer& a) { a.route.gateway.reset(); }

TEST(StepFrom, StaysWhereTheKernelAnswersByItself) {
  expect_rows(
      {{"own address", behind_slirp, kind(RouteKind::local), "local_address"},
       {"broadcast", behind_slirp, kind(RouteKind::broadcast), "multicast"},
       {"multicast", behind_slirp, kind(RouteKind::multicast), "multicast"},
       {"unreachable", behind_slirp, kind(RouteKind::refused), "refused_route"},
       {"no route", behind_slirp, kind(RouteKind::none), "no_route"},
       {"unicast over lo", behind_slirp,
        [](NamespaceAnswer& a) { a.device.kind = DeviceKind::loopback; }, "local_address"}});
}

TEST(StepFrom, LeavesThroughTheUplinkByAGateway) {
  expect_rows(
      {{"slirp4netns", behind_slirp, nothing, "AskHost"},
       {"pasta", behind_pasta, nothing, "AskHost"},
       {"named by option", behind_slirp,
        [](NamespaceAnswer& a) { a.uplink->kind = UplinkKind::named_by_option; }, "AskHost"}});
}

TEST(StepFrom, StaysAtTheNeighboursOfSlirp) {
  expect_rows({{"the gateway", behind_slirp, on_link, "on_link", kGateway},
               {"the resolver", behind_slirp, on_link, "on_link", address("10.0.2.3")},
               {"route to the gateway itself", behind_slirp, nothing, "on_link", kGateway},
               {"even with an address of the host", behind_slirp,
                [](NamespaceAnswer& a) {
                  on_link(a);
                  a.uplink_address_is_hosts = true;
                },
                "on_link"}});
}

TEST(StepFrom, TakesPastasNeighboursForTheHosts) {
  expect_rows({{"a neighbour", behind_pasta, on_link, "AskHost"},
               {"not where pasta has an address of its own", behind_pasta,
                [](NamespaceAnswer& a) {
                  on_link(a);
                  a.uplink_address_is_hosts = false;
                },
                "on_link"},
               {"the gateway", behind_pasta, nothing, "uplink_maps_it", kGateway},
               {"the gateway, on-link, as a mapped address", behind_pasta,
                [](NamespaceAnswer& a) {
                  on_link(a);
                  a.uplink->mapped = {kGateway};
                },
                "uplink_maps_it", kGateway}});
}

TEST(StepFrom, StaysWhereTheUplinkHasAMeaningOfItsOwn) {
  expect_rows({{"mapped", behind_slirp,
                [](NamespaceAnswer& a) {
                  a.uplink->mapped = {kGateway, kFar};
                },
                "uplink_maps_it"},
               {"outbound address", behind_slirp,
                [](NamespaceAnswer& a) { a.uplink->outbound_fixed = true; }, "outbound_fixed"}});
}

TEST(StepFrom, FollowsAVethIntoTheMiddle) {
  expect_rows({{"gateway behind it", behind_veth, nothing, "AskMiddle"},
               {"neighbour", behind_veth, on_link, "on_link"},
               {"gateway itself", behind_veth, nothing, "on_link", kGateway},
               {"peer elsewhere", behind_veth,
                [](NamespaceAnswer& a) { a.device.peer_in_middle = false; }, "not_the_uplink"}});
}

TEST(StepFrom, StaysAtAnyOtherDevice) {
  expect_rows({{"bridge", behind_veth,
                [](NamespaceAnswer& a) { a.device.kind = DeviceKind::bridge; }, "not_the_uplink"},
               {"other", behind_veth, [](NamespaceAnswer& a) { a.device.kind = DeviceKind::other; },
                "not_the_uplink"},
               {"tap of an unknown owner", behind_slirp,
                [](NamespaceAnswer& a) { a.uplink.reset(); }, "unknown_uplink"}});
}

TEST(StepFrom, StaysWhereThePathIsNotPlain) {
  for (const auto base : {behind_slirp, behind_pasta, behind_veth}) {
    expect_rows({{"multipath", base, [](NamespaceAnswer& a) { a.route.several_paths = true; },
                  "several_paths"},
                 {"tunnel", base, [](NamespaceAnswer& a) { a.route.encapsulated = true; },
                  "encapsulated"}});
  }
}

std::string told(const std::variant<Reason, HostPath>& path) {
  if (const auto* reason = std::get_if<Reason>(&path)) return std::string(name_of(*reason));
  const auto& host = std::get<HostPath>(path);
  return host.device_name + " " + std::to_string(host.device);
}

TEST(HostPath, NamesTheOneDeviceOrTheReason) {
  const DeviceFacts ether{.index = 3, .name = "eth0"};
  const DeviceFacts loopback{.index = 1, .name = "lo", .kind = DeviceKind::loopback};
  RouteAnswer plain{.kind = RouteKind::unicast, .device = 3, .gateway = {}, .source = {}};
  EXPECT_EQ(told(host_path(plain, ether)), "eth0 3");
  EXPECT_EQ(told(host_path(plain, loopback)), "host_address");
  EXPECT_EQ(told(host_path(plain, DeviceFacts{})), "host_no_route");

  for (const auto& [kind, want] : {std::pair{RouteKind::local, "host_address"},
                                   {RouteKind::none, "host_no_route"},
                                   {RouteKind::refused, "host_no_route"},
                                   {RouteKind::broadcast, "multicast"},
                                   {RouteKind::multicast, "multicast"}}) {
    RouteAnswer answer = plain;
    answer.kind = kind;
    EXPECT_EQ(told(host_path(answer, ether)), want);
  }

  RouteAnswer several = plain;
  several.several_paths = true;
  EXPECT_EQ(told(host_path(several, ether)), "several_paths");
  RouteAnswer tunnel = plain;
  tunnel.encapsulated = true;
  EXPECT_EQ(told(host_path(tunnel, ether)), "encapsulated");
}

}  // namespace
}  // namespace sockhop::core
