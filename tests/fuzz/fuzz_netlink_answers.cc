// Answers and events of rtnetlink; root of a container can make any of them.
#include "messages.h"
#include "require.h"
#include "sys/netlink_answers.h"

using namespace sockhop;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  core::RouteSelectors selectors;
  fuzz::for_each_message(data, size, [&](const nlmsghdr& message) {
    const auto route = sys::route_of(message);
    require(!route.gateway || route.kind != core::RouteKind::none, "no route has no gateway");
    (void)sys::names_several_ways(message);
    const auto device = sys::device_of(message);
    require(device.peer_index == 0 || device.kind == core::DeviceKind::veth, "veths have peers");
    (void)sys::address_of(message);
    (void)sys::shapes_or_classifies(message);
    sys::add_selectors(message, selectors);
  });
  return 0;
}
