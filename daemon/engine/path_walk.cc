#include "engine/path_walk.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sockhop::engine {
namespace {

using core::Address;
using core::NamespaceAnswer;
using core::RouteKind;

std::string_view name_of(RouteKind kind) {
  switch (kind) {
    case RouteKind::unicast:
      return "a route";
    case RouteKind::local:
      return "an address of its own";
    case RouteKind::broadcast:
      return "a broadcast address";
    case RouteKind::multicast:
      return "a multicast address";
    case RouteKind::refused:
      return "a route that refuses";
    case RouteKind::none:
      return "no route";
  }
  return "no route";
}

std::string describe_route(const core::RouteAnswer& route, const core::DeviceFacts& device) {
  std::string text(name_of(route.kind));
  if (route.kind == RouteKind::unicast) text += " through " + device.name;
  if (route.gateway) text += " by " + to_string(*route.gateway);
  if (route.source) text += ", source " + to_string(*route.source);
  return text;
}

std::string describe_objection(const core::Objection& objection) {
  std::string text = objection.chain;
  if (objection.rule != 0) text += ", rule " + std::to_string(objection.rule);
  return text + ", may stop or change it";
}

bool share_one(const std::vector<Address>& some, const std::vector<Address>& others) {
  return std::any_of(some.begin(), some.end(), [&](const Address& address) {
    return !address.is_link_local() && !address.is_loopback() &&
           std::find(others.begin(), others.end(), address) != others.end();
  });
}

// An address of the Internet's documentation: what leads to it is the default route. pasta maps the
// default gateway to the host wherever its command line does not name one.
Address nobodys_address(const Address& like) {
  if (like.is_v4()) return Address::v4(203, 0, 113, 1);
  return Address{{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
}

}  // namespace

PathPlace& PathWalk::place_at(std::size_t depth) {
  return depth == 0 ? places_.container : places_.middle[depth - 1];
}

Path PathWalk::stop(const std::string& where, core::Reason reason) {
  steps_.push_back({where, "stays: " + std::string(describe(reason))});
  return reason;
}

Path PathWalk::fail(const std::string& where, const Error& error) {
  steps_.push_back({where, to_string(error)});
  return stop(where, core::Reason::daemon_error);
}

// The indexes of a veth's two ends must name each other; otherwise it leads somewhere else.
Result<core::DeviceFacts> PathWalk::device_with_peer(std::size_t depth, int index) {
  auto device = place_at(depth).questions->device(index);
  if (!device || device->kind != core::DeviceKind::veth || device->peer_index == 0) return device;
  if (depth >= places_.middle.size()) return device;
  const auto peer = place_at(depth + 1).questions->device(device->peer_index);
  device->peer_in_middle =
      peer && peer->kind == core::DeviceKind::veth && peer->peer_index == device->index;
  if (device->peer_in_middle) entrance_ = entrance(depth + 1, *peer);
  return device;
}

std::optional<core::CrossedDevice> PathWalk::entrance(std::size_t depth,
                                                      const core::DeviceFacts& peer) {
  if (peer.master == 0) return core::CrossedDevice{peer.index, peer.name};
  const auto master = place_at(depth).questions->device(peer.master);
  if (!master || master->kind != core::DeviceKind::bridge) return std::nullopt;
  return core::CrossedDevice{master->index, master->name};
}

std::optional<core::Objection> PathWalk::objection(std::size_t depth,
                                                   const core::Endpoint& destination,
                                                   const NamespaceAnswer& answer) const {
  core::Crossing crossing;
  crossing.destination = destination.address;
  crossing.port = destination.port;
  crossing.made_here = depth == 0;
  // What comes from a namespace that translates may come from any address.
  const bool as_it_was = std::none_of(
      rules_.begin(), rules_.begin() + static_cast<std::ptrdiff_t>(depth), [](const auto& passed) {
        return passed.nft.translates_source || passed.legacy.translates_source;
      });
  if (as_it_was) crossing.source = source_;
  crossing.source_port_is_high = as_it_was && rules_.front().local_ports_are_high;
  if (depth != 0) crossing.in = came_by_;
  crossing.out = {answer.device.index, answer.device.name};
  return core::objection_to(rules_.at(depth), crossing);
}

Status PathWalk::add_uplink(std::size_t depth, const Address& destination,
                            NamespaceAnswer& answer) {
  auto& place = place_at(depth);
  const auto uplink =
      std::find_if(uplinks_.begin(), uplinks_.end(), [&](const core::Uplink& candidate) {
        return (candidate.netns_inode == place.netns_inode || candidate.netns_inode == 0) &&
               candidate.device == answer.device.name;
      });
  if (uplink == uplinks_.end()) return {};
  answer.uplink = *uplink;
  if (uplink->kind != core::UplinkKind::pasta) return {};
  const auto inside = place.questions->addresses(answer.device.index);
  if (!inside) return inside.error();
  const auto outside = places_.host.questions->addresses(0);
  if (!outside) return outside.error();
  answer.uplink_address_is_hosts = share_one(*inside, *outside);
  const auto beyond = place.questions->route(nobodys_address(destination));
  if (beyond && beyond->gateway) answer.uplink->mapped.push_back(*beyond->gateway);
  return {};
}

Result<NamespaceAnswer> PathWalk::ask(std::size_t depth, const Address& destination) {
  auto& place = place_at(depth);
  NamespaceAnswer answer;
  auto route = place.questions->route(destination);
  if (!route) return route.error();
  answer.route = *route;
  if (answer.route.device != 0) {
    auto device = device_with_peer(depth, answer.route.device);
    if (!device) return device.error();
    answer.device = *device;
    if (auto added = add_uplink(depth, destination, answer); !added) return added.error();
  }
  return answer;
}

Path PathWalk::run(const core::Endpoint& destination) {
  for (std::size_t depth = 0; depth <= places_.middle.size(); ++depth) {
    const std::string& where = place_at(depth).name;
    came_by_ = std::exchange(entrance_, std::nullopt);
    const auto answer = ask(depth, destination.address);
    if (!answer) return fail(where, answer.error());
    if (depth == 0) source_ = answer->route.source;
    steps_.push_back({where, describe_route(answer->route, answer->device)});
    const auto step = core::step_from(destination.address, *answer);
    if (const auto* reason = std::get_if<core::Reason>(&step)) return stop(where, *reason);
    if (const auto found = objection(depth, destination, *answer)) {
      steps_.push_back({where, describe_objection(*found)});
      return stop(where, core::Reason::filtered);
    }
    if (std::holds_alternative<core::AskHost>(step)) return ask_host(destination.address);
  }
  return stop(place_at(places_.middle.size()).name, core::Reason::not_the_uplink);
}

Path PathWalk::ask_host(const Address& destination) {
  auto& host = places_.host;
  const auto route = host.questions->route(destination);
  if (!route) return fail(host.name, route.error());
  core::DeviceFacts device;
  if (route->device != 0) {
    const auto known = host.questions->device(route->device);
    if (!known) return fail(host.name, known.error());
    device = *known;
  }
  steps_.push_back({host.name, describe_route(*route, device)});
  auto path = core::host_path(*route, device);
  if (const auto* reason = std::get_if<core::Reason>(&path)) return stop(host.name, *reason);
  steps_.push_back({host.name, "hops, bound to " + device.name});
  return path;
}

}  // namespace sockhop::engine
