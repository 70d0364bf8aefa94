// When sockhop answers what to a connect(): values in, a verdict out.
//
// In two steps, so that the route is asked only when it matters:
//
//   decide_before_route  -> a verdict, or
//   step_from, host_path -> a Reason or a HostPath; where it is a Reason and rule_forces_hop(), the
//                           host's own route is asked all the same and its answer counts
//   decide_connect       -> the verdict
#pragma once

#include <optional>
#include <variant>

#include "core/policy.h"
#include "core/route_answer.h"
#include "core/socket_facts.h"
#include "core/verdict.h"

namespace sockhop::core {

/// The part that needs no route: a Stay or Deny, or nothing when the route must be asked.
std::optional<Verdict> decide_before_route(const Endpoint& destination, const SocketFacts& socket,
                                           const Policy& policy);

/// True where an explicit hop rule sets aside that the container's own way would stay for `reason`:
/// the caller then asks the host's route. Only reasons that the uplink is not understood give way;
/// what names the container or the host itself (loopback, local, host address) never does.
bool rule_forces_hop(const Endpoint& destination, const SocketFacts& socket, const Policy& policy,
                     Reason reason);

/// True where the path stays because it ends at the host itself and the policy lets that hop: the
/// caller then asks which device has the address.
bool hops_to_host(const Policy& policy, const std::variant<Reason, HostPath>& path);

/// The whole: `path` is what following the route gave.
Verdict decide_connect(const Endpoint& destination, const SocketFacts& socket, const Policy& policy,
                       const std::variant<Reason, HostPath>& path);

}  // namespace sockhop::core
