#include "session/convert.h"

#include <algorithm>
#include <cstring>

namespace sockhop::session {
namespace {

constexpr std::uint32_t kUdp = 17;
constexpr std::uint32_t kLastPort = 65535;

Result<core::Address> address_of(const std::string& bytes) {
  core::Address address;
  if (bytes.size() != address.bytes.size()) return input_error("message", "address of bad length");
  std::memcpy(address.bytes.data(), bytes.data(), bytes.size());
  return address;
}

bool lists(const google::protobuf::RepeatedPtrField<std::string>& names, const char* name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string verdict_name(const core::Verdict& verdict) {
  struct Visitor {
    std::string operator()(const core::Stay&) const { return "stay"; }
    std::string operator()(const core::Hop&) const { return "hop"; }
    std::string operator()(const core::Deny&) const { return "deny"; }
  };
  return std::visit(Visitor{}, verdict);
}

}  // namespace

Result<core::Policy> policy_of(const internal::Policy& message) {
  core::Policy policy;
  policy.accelerate = message.accelerate();
  policy.names_of_host = message.names_of_host();
  policy.strict = message.strict();
  policy.host_local_hop = message.host_local_hop();
  for (const auto& text : message.rules()) {
    auto rule = core::parse_rule(text);
    if (!rule) return rule.error();
    policy.rules.push_back(*rule);
  }
  policy.uplinks.assign(message.uplinks().begin(), message.uplinks().end());
  return policy;
}

Result<core::PublishedPort> port_of(const internal::Port& message) {
  const auto address = address_of(message.host_address());
  if (!address) return address.error();
  if (message.host_port() > kLastPort || message.container_port() > kLastPort) {
    return input_error("port", "out of range");
  }
  core::PublishedPort port;
  port.host.address = *address;
  port.host.port = static_cast<std::uint16_t>(message.host_port());
  port.container_port = static_cast<std::uint16_t>(message.container_port());
  port.protocol = message.protocol() == kUdp ? core::Protocol::udp : core::Protocol::tcp;
  return port;
}

std::vector<core::Uplink> uplinks_of(
    const google::protobuf::RepeatedPtrField<internal::Uplink>& messages) {
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

Result<engine::SessionStart> start_of(const internal::Start& message) {
  engine::SessionStart start;
  start.container = message.container();
  auto policy = policy_of(message.policy());
  if (!policy) return policy.error();
  start.policy = std::move(*policy);
  for (const auto& port : message.ports()) {
    const auto one = port_of(port);
    if (!one) return one.error();
    start.ports.push_back(*one);
  }
  start.uplinks = uplinks_of(message.uplinks());
  // A device that the user vouches for counts in every namespace.
  for (const auto& device : start.policy.uplinks) {
    start.uplinks.push_back({.netns_inode = 0,
                             .device = device,
                             .kind = core::UplinkKind::named_by_option,
                             .outbound_fixed = false,
                             .mapped = {}});
  }
  start.features.thread_pidfd = !lists(message.without(), "pidfd-thread");
  start.features.sync_wake_up = !lists(message.without(), "sync-wake-up");
  start.features.awake_cores = !lists(message.without(), "awake-cores");
  return start;
}

internal::Explanation explanation_of(const engine::Explained& explained) {
  internal::Explanation message;
  message.set_verdict(verdict_name(explained.verdict));
  const auto reason =
      std::visit([](const auto& verdict) { return verdict.reason; }, explained.verdict);
  message.set_reason(std::string(core::describe(reason)));
  for (const auto& step : explained.steps) {
    auto* one = message.add_steps();
    one->set_where(step.where);
    one->set_what(step.what);
  }
  return message;
}

}  // namespace sockhop::session
