// The Start of a session as it now holds, in the memory that outlives an engine.
#pragma once

#include "base/result.h"
#include "session.pb.h"
#include "sys/session_memory.h"

namespace sockhop::session {

Result<internal::Start> kept_start(const sys::SessionMemory& memory);
/// Replaces the one that is kept.
Status keep_start(sys::SessionMemory& memory, const internal::Start& start);

}  // namespace sockhop::session
