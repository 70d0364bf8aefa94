#include "core/route_answer.h"

#include <algorithm>

namespace sockhop::core {
namespace {

// What the kind of the route alone says; nothing for a route that leads on.
std::optional<Reason> reason_of_kind(RouteKind kind) {
  switch (kind) {
    case RouteKind::unicast:
      return std::nullopt;
    case RouteKind::local:
      return Reason::local_address;
    case RouteKind::broadcast:
    case RouteKind::multicast:
      return Reason::multicast;
    case RouteKind::refused:
      return Reason::refused_route;
    case RouteKind::none:
      return Reason::no_route;
  }
  return Reason::no_route;
}

// A next hop that is the destination itself is a neighbour written as a route.
bool is_on_link(const Address& destination, const RouteAnswer& route) {
  return !route.gateway || *route.gateway == destination;
}

RouteStep through_uplink(const Address& destination, const NamespaceAnswer& answer) {
  const Uplink& uplink = *answer.uplink;
  if (uplink.outbound_fixed) return Reason::outbound_fixed;
  if (std::ranges::find(uplink.mapped, destination) != uplink.mapped.end()) {
    return Reason::uplink_maps_it;
  }
  if (is_on_link(destination, answer.route)) {
    // pasta copies the host's address: then the neighbours are the host's neighbours.
    const bool hosts_link = uplink.kind == UplinkKind::pasta && answer.uplink_address_is_hosts;
    if (!hosts_link) return Reason::on_link;
    if (answer.route.gateway) return Reason::uplink_maps_it;
  }
  return AskHost{};
}

Reason not_an_uplink(const DeviceFacts& device) {
  return device.kind == DeviceKind::tap ? Reason::unknown_uplink : Reason::not_the_uplink;
}

}  // namespace

RouteStep step_from(const Address& destination, const NamespaceAnswer& answer) {
  if (const auto reason = reason_of_kind(answer.route.kind)) return *reason;
  if (answer.device.kind == DeviceKind::loopback) return Reason::local_address;
  if (answer.route.several_paths) return Reason::several_paths;
  if (answer.route.encapsulated) return Reason::encapsulated;
  if (answer.uplink) return through_uplink(destination, answer);
  if (is_on_link(destination, answer.route)) return Reason::on_link;
  if (answer.device.kind != DeviceKind::veth || !answer.device.peer_in_middle) {
    return not_an_uplink(answer.device);
  }
  return AskMiddle{};
}

std::variant<Reason, HostPath> host_path(const RouteAnswer& answer, const DeviceFacts& device) {
  switch (answer.kind) {
    case RouteKind::unicast:
      break;
    case RouteKind::local:
      return Reason::host_address;
    case RouteKind::broadcast:
    case RouteKind::multicast:
      return Reason::multicast;
    case RouteKind::refused:
    case RouteKind::none:
      return Reason::host_no_route;
  }
  if (device.kind == DeviceKind::loopback) return Reason::host_address;
  if (answer.several_paths) return Reason::several_paths;
  if (answer.encapsulated) return Reason::encapsulated;
  // Without one named device there is no leash.
  if (device.index == 0 || device.name.empty()) return Reason::host_no_route;
  return HostPath{device.index, device.name};
}

}  // namespace sockhop::core
