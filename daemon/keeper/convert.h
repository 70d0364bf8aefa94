// Between core's vocabulary and the internal messages.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "core/admission.h"
#include "core/join.h"
#include "core/policy.h"
#include "core/route_answer.h"
#include "session.pb.h"

namespace sockhop::keeper {

void fill(internal::Port& message, const core::PublishedPort& port);
void fill(internal::Policy& message, const core::Policy& policy);
void fill(internal::Uplink& message, const core::Uplink& uplink);

/// Refuses what no register command could have made.
Result<core::PublishedPort> port_of(const internal::Port& message);

/// What a restarted keeper has to know about a container besides what its session does.
struct Notes {
  std::optional<core::Registration> registration;
  core::ContainerMark mark;
};
std::string to_notes(const Notes& notes);
/// Of a session's status; a registration that cannot be read is none.
Notes notes_of(const internal::Status& status);

}  // namespace sockhop::keeper
