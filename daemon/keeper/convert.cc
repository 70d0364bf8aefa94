#include "keeper/convert.h"

#include <algorithm>
#include <cstring>

namespace sockhop::keeper {
namespace {

constexpr std::uint32_t kTcp = 6;
constexpr std::uint32_t kUdp = 17;

std::string bytes_of(const core::Address& address) {
  return std::string(reinterpret_cast<const char*>(address.bytes.data()), address.bytes.size());
}

Result<core::Address> address_of(const std::string& bytes) {
  core::Address address;
  if (bytes.size() != address.bytes.size()) return input_error("message", "address of bad length");
  std::memcpy(address.bytes.data(), bytes.data(), bytes.size());
  return address;
}

}  // namespace

void fill(internal::Port& message, const core::PublishedPort& port) {
  message.set_host_address(bytes_of(port.host.address));
  message.set_host_port(port.host.port);
  message.set_container_port(port.container_port);
  message.set_protocol(port.protocol == core::Protocol::udp ? kUdp : kTcp);
}

void fill(internal::Policy& message, const core::Policy& policy) {
  message.set_accelerate(policy.accelerate);
  message.set_names_of_host(policy.names_of_host);
  message.set_strict(policy.strict);
  message.set_host_local_hop(policy.host_local_hop);
  for (const auto& rule : policy.rules) message.add_rules(core::to_string(rule));
  for (const auto& uplink : policy.uplinks) message.add_uplinks(uplink);
}

void fill(internal::Uplink& message, const core::Uplink& uplink) {
  message.set_netns_inode(uplink.netns_inode);
  message.set_device(uplink.device);
  message.set_kind(static_cast<std::uint32_t>(uplink.kind));
  message.set_outbound_fixed(uplink.outbound_fixed);
  for (const auto& mapped : uplink.mapped) message.add_mapped(bytes_of(mapped));
}

Result<core::PublishedPort> port_of(const internal::Port& message) {
  auto address = address_of(message.host_address());
  if (!address) return address.error();
  constexpr std::uint32_t kLast = 65535;
  if (message.host_port() == 0 || message.host_port() > kLast || message.container_port() == 0 ||
      message.container_port() > kLast) {
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

std::string to_notes(const Notes& notes) {
  internal::KeeperNotes message;
  message.set_registered(notes.registration.has_value());
  if (notes.registration) {
    message.set_own_rules(static_cast<std::uint32_t>(notes.registration->rules.size()));
  }
  message.set_network(notes.mark.network);
  message.set_mount(notes.mark.mount);
  message.set_pid(notes.mark.pid);
  return message.SerializeAsString();
}

Notes notes_of(const internal::Status& status) {
  Notes notes;
  internal::KeeperNotes message;
  if (!message.ParseFromString(status.keeper_notes())) return notes;
  notes.mark = {message.network(), message.mount(), message.pid()};
  if (!message.registered()) return notes;
  core::Registration registration;
  for (const auto& port_status : status.ports()) {
    if (auto port = port_of(port_status.port())) registration.ports.push_back(*port);
  }
  const auto& rules = status.policy().rules();
  const int own = std::min(static_cast<int>(message.own_rules()), rules.size());
  for (int i = 0; i < own; ++i) {
    if (auto rule = core::parse_rule(rules[i])) registration.rules.push_back(*rule);
  }
  notes.registration = std::move(registration);
  return notes;
}

}  // namespace sockhop::keeper
