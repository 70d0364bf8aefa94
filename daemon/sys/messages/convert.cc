#include "sys/messages/convert.h"

#include <cstring>
#include <utility>

namespace sockhop::internal {
namespace {

constexpr std::uint32_t kLastPort = 65535;

bool is_port(std::uint32_t number) { return number >= 1 && number <= kLastPort; }

}  // namespace

std::string bytes_of(const core::Address& address) {
  return {reinterpret_cast<const char*>(address.bytes.data()), address.bytes.size()};
}

Result<core::Address> address_of(const std::string& bytes) {
  core::Address address;
  if (bytes.size() != address.bytes.size()) return input_error("message", "address of bad length");
  std::memcpy(address.bytes.data(), bytes.data(), bytes.size());
  return address;
}

void fill(Port& message, const core::PublishedPort& port) {
  message.set_host_address(bytes_of(port.host.address));
  message.set_host_port(port.host.port);
  message.set_container_port(port.container_port);
  message.set_protocol(port.protocol == core::Protocol::udp ? kUdp : kTcp);
}

void fill(Policy& message, const core::Policy& policy) {
  message.set_accelerate(policy.accelerate);
  message.set_names_of_host(policy.names_of_host);
  message.set_strict(policy.strict);
  message.set_udp_hop(policy.udp_hop);
  message.set_host_local_hop(policy.host_local_hop);
  for (const auto& rule : policy.rules) message.add_rules(core::to_string(rule));
  for (const auto& uplink : policy.uplinks) message.add_uplinks(uplink);
}

void fill(Uplink& message, const core::Uplink& uplink) {
  message.set_netns_inode(uplink.netns_inode);
  message.set_device(uplink.device);
  message.set_kind(static_cast<std::uint32_t>(uplink.kind));
  message.set_outbound_fixed(uplink.outbound_fixed);
  for (const auto& mapped : uplink.mapped) message.add_mapped(bytes_of(mapped));
}

Result<core::PublishedPort> port_of(const Port& message) {
  const auto address = address_of(message.host_address());
  if (!address) return address.error();
  if (!is_port(message.host_port()) || !is_port(message.container_port())) {
    return input_error("port", "must be 1 to 65535");
  }
  if (message.protocol() != kTcp && message.protocol() != kUdp) {
    return input_error("port", "protocol must be tcp or udp");
  }
  core::PublishedPort port;
  port.host.address = *address;
  port.host.port = static_cast<std::uint16_t>(message.host_port());
  port.container_port = static_cast<std::uint16_t>(message.container_port());
  port.protocol = message.protocol() == kUdp ? core::Protocol::udp : core::Protocol::tcp;
  return port;
}

Result<core::Endpoint> endpoint_of(const ExplainRequest& message) {
  const auto address = address_of(message.address());
  if (!address) return address.error();
  if (!is_port(message.port())) return input_error("port", "must be 1 to 65535");
  core::Endpoint endpoint;
  endpoint.address = *address;
  endpoint.port = static_cast<std::uint16_t>(message.port());
  return endpoint;
}

Result<core::Policy> policy_of(const Policy& message) {
  core::Policy policy;
  policy.accelerate = message.accelerate();
  policy.names_of_host = message.names_of_host();
  policy.strict = message.strict();
  policy.udp_hop = message.udp_hop();
  policy.host_local_hop = message.host_local_hop();
  for (const auto& text : message.rules()) {
    auto rule = core::parse_rule(text);
    if (!rule) return rule.error();
    policy.rules.push_back(*rule);
  }
  policy.uplinks.assign(message.uplinks().begin(), message.uplinks().end());
  return policy;
}

std::vector<core::Uplink> uplinks_of(const google::protobuf::RepeatedPtrField<Uplink>& messages) {
  std::vector<core::Uplink> all;
  for (const auto& message : messages) {
    core::Uplink uplink;
    uplink.netns_inode = message.netns_inode();
    uplink.device = message.device();
    uplink.kind = static_cast<core::UplinkKind>(message.kind());
    uplink.outbound_fixed = message.outbound_fixed();
    for (const auto& bytes : message.mapped()) {
      if (const auto address = address_of(bytes)) uplink.mapped.push_back(*address);
    }
    all.push_back(std::move(uplink));
  }
  return all;
}

}  // namespace sockhop::internal
