// When sockhop answers what to a connect(): values in, a verdict out.
//
// In two steps, so that the route is asked only when it matters.
#pragma once

#include <optional>

#include "core/policy.h"
#include "core/route_answer.h"
#include "core/socket_facts.h"
#include "core/verdict.h"

namespace sockhop::core {

/// The part that needs no route: a Stay or Deny, or nothing when the route must be asked.
std::optional<Verdict> decide_before_route(const Endpoint& destination, const SocketFacts& socket,
                                           const Policy& policy);

/// The whole: `path` is what following the route gave.
Verdict decide_connect(const Endpoint& destination, const SocketFacts& socket, const Policy& policy,
                       const std::variant<Reason, HostPath>& path);

}  // namespace sockhop::core
