// What one network namespace answered about a destination, and what to ask next (pure).
//
// A path is found by asking the container's namespace, then the middle namespace where the next hop
// is a veth into it, then the host (architecture: container, middle, host). Each answer leads to
// one step; step_from() knows the rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/endpoint.h"
#include "core/verdict.h"

namespace sockhop::core {

/// rtnetlink(7) route types as far as they matter.
enum class RouteKind { unicast, local, broadcast, multicast, refused, none };

enum class DeviceKind { loopback, tap, veth, bridge, other };

/// Of RTM_GETROUTE (never with RTA_OIF, which makes own addresses look like neighbours).
struct RouteAnswer {
  RouteKind kind = RouteKind::none;
  int device = 0;                  // interface index, 0 when none
  std::optional<Address> gateway;  // next hop; absent when on-link
  std::optional<Address> source;   // preferred source
  int address_device = 0;          // kind local: the device that has the address
  bool several_paths = false;      // multipath or next hop group
  bool encapsulated = false;       // lightweight tunnel
};

/// Of RTM_GETLINK.
struct DeviceFacts {
  int index = 0;
  std::string name;
  DeviceKind kind = DeviceKind::other;
  /// For a veth: index of its other end, in that end's namespace.
  int peer_index = 0;
  /// The other end of a veth lies in the middle namespace (checked by index from both sides).
  bool peer_in_middle = false;
  /// Of a bridge's port: the bridge's index. (Of what else has ports: that device's.)
  int master = 0;
};

enum class UplinkKind { slirp4netns, pasta, named_by_option };

/// How a namespace reaches the outside; found by the keeper (owner of the tap).
struct Uplink {
  std::uint64_t netns_inode = 0;  // st_ino of the namespace it serves
  std::string device;             // "tap0"
  UplinkKind kind = UplinkKind::slirp4netns;
  /// Told an outbound address or interface: everything stays.
  bool outbound_fixed = false;
  /// Addresses that the uplink maps to the host or its resolver, pasta's gateway among them: these
  /// stay. (An on-link answer does not name the gateway, so step_from cannot find it elsewhere.)
  std::vector<Address> mapped;
};

struct AskMiddle {};
/// The destination leaves through the uplink: the host's own route decides the rest.
struct AskHost {};
using RouteStep = std::variant<Reason, AskMiddle, AskHost>;

struct NamespaceAnswer {
  RouteAnswer route;
  DeviceFacts device;
  std::optional<Uplink> uplink;  // when `device` is one
  /// The uplink's own address is also an address of the host (pasta copies it).
  bool uplink_address_is_hosts = false;
};

/// A Reason means: stay, for this reason. What filters on the way is asked of core/filtering.h.
RouteStep step_from(const Address& destination, const NamespaceAnswer& answer);

/// The host's answer: the one device of the path, or a Reason to stay.
struct HostPath {
  int device = 0;
  std::string device_name;
};
std::variant<Reason, HostPath> host_path(const RouteAnswer& answer, const DeviceFacts& device);

}  // namespace sockhop::core
