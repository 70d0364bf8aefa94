// The way of a connect() through core takes nothing from the heap.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "core/call.h"
#include "core/decide.h"
#include "core/sockaddr.h"
#include "tests/unit/core/allocation_counter.h"

namespace sockhop::core {
namespace {

NamespaceAnswer behind_slirp() {
  NamespaceAnswer answer;
  answer.route.kind = RouteKind::unicast;
  answer.route.gateway = Address::v4(10, 0, 2, 2);
  answer.device = {.index = 2, .name = "tap0", .kind = DeviceKind::tap};
  answer.uplink = Uplink{.device = "tap0", .mapped = {Address::v4(10, 0, 2, 3)}};
  return answer;
}

// decode, parse, decide, route, decide: what one notification costs.
std::size_t walk(const std::vector<std::byte>& name, const NamespaceAnswer& inside,
                 const DeviceFacts& device, const Policy& policy) {
  const Call call = decode({42, AUDIT_ARCH_X86_64, {3, 0x1000, 16}});
  const auto parsed = parse_sockaddr(name);
  const Endpoint destination = std::get<InetName>(parsed).endpoint;
  SocketFacts socket;
  socket.family = AF_INET;
  socket.type = SOCK_STREAM;
  socket.protocol = IPPROTO_TCP;
  socket.side = Side::container;
  const auto early = decide_before_route(destination, socket, policy);
  const auto step = step_from(destination.address, inside);
  const auto path =
      host_path({.kind = RouteKind::unicast, .device = 3, .gateway = {}, .source = {}}, device);
  const Verdict verdict = decide_connect(destination, socket, policy, path);
  return call.index() + (early ? 100 : 0) + step.index() * 10 + verdict.index();
}

TEST(HotPath, AllocatesNothingEvenWithTheLongestDeviceName) {
  Policy policy;
  for (const char* text :
       {"stay 10.0.0.0/8", "deny 203.0.113.0/24:1-1024/tcp", "hop 198.51.100.0/24"}) {
    policy.rules.push_back(parse_rule(text).value());
  }
  const NamespaceAnswer inside = behind_slirp();
  const DeviceFacts device{.index = 3, .name = "fifteen_letters"};
  ASSERT_EQ(device.name.size(), 15u) << "IFNAMSIZ - 1";
  const auto name = make_sockaddr(parse_endpoint("198.51.100.7:443").value(), AF_INET);

  const long before = allocations_so_far();
  const std::size_t walked = walk(name, inside, device, policy);
  EXPECT_EQ(allocations_so_far() - before, 0);
  EXPECT_EQ(walked, 0u + 2 * 10 + 1) << "connect, AskHost, Hop";
  EXPECT_GT(before, 0) << "the counter is in place";
}

}  // namespace
}  // namespace sockhop::core
