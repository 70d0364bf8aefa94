// Between the messages of the keeper and the engine's vocabulary.
#pragma once

#include "base/result.h"
#include "engine/session.h"
#include "session.pb.h"

namespace sockhop::session {

/// Everything that Start says of policy, ports, uplinks and features. EINVAL names what is wrong.
Result<engine::SessionStart> start_of(const internal::Start& message);

internal::Explanation explanation_of(const engine::Explained& explained);

}  // namespace sockhop::session
