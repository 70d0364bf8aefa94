// Callers under a Landlock domain stay: their kernel has to see what they connect to.
#pragma once

#include "engine/call.h"

namespace sockhop::engine {

/// A landlock_restrict_self() that is about to run. Calls that cannot succeed change nothing.
void note_restriction(sys::SessionMemory& memory, ActiveCall& call, std::int32_t rules);

/// Has the caller a domain, or may it have one? Costs nothing while nobody in the container has.
bool may_be_restricted(const sys::SessionMemory& memory, const ActiveCall& call);

}  // namespace sockhop::engine
