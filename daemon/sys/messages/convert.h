// Between core's vocabulary and the internal messages, both ways, for everybody who speaks them.
//
// What a message carries was written by a process of ours, but nothing here relies on that: every
// conversion to core refuses what core cannot hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/endpoint.h"
#include "core/policy.h"
#include "core/port_table.h"
#include "core/route_answer.h"
#include "session.pb.h"

namespace sockhop::internal {

/// The `protocol` of a message, as in an IP header.
inline constexpr std::uint32_t kTcp = 6;
inline constexpr std::uint32_t kUdp = 17;

/// 16 bytes, IPv4 as v4-mapped. EINVAL when there are more or fewer.
std::string bytes_of(const core::Address& address);
Result<core::Address> address_of(const std::string& bytes);

void fill(Port& message, const core::PublishedPort& port);
void fill(Policy& message, const core::Policy& policy);
void fill(Uplink& message, const core::Uplink& uplink);

/// EINVAL for what no register command could have made.
Result<core::PublishedPort> port_of(const Port& message);
Result<core::Endpoint> endpoint_of(const ExplainRequest& message);
/// EINVAL names the rule that cannot be read.
Result<core::Policy> policy_of(const Policy& message);
/// A mapped address that cannot be read is left out.
std::vector<core::Uplink> uplinks_of(const google::protobuf::RepeatedPtrField<Uplink>& messages);

}  // namespace sockhop::internal
