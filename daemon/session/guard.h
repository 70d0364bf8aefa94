// The process that outlives engines: holds the descriptors and the shared memory, clones an engine
// with the same descriptor table, waits for its end, clones the next.
//
// It does nothing that can fail: only a kill of the guard itself loses the notify fds.
#pragma once

#include <functional>

#include "base/result.h"
#include "sys/session_memory.h"

namespace sockhop::session {

/// Reads Start from the keeper (descriptor 3), keeps what came with it, enters the user namespace
/// that owns the outermost namespace of the container's way. Returns the memory of the session;
/// a null pointer when the container has ended meanwhile.
Result<sys::SessionMemory*> prepare();

/// Runs engines until one ends by itself; returns its exit status.
int guard(sys::SessionMemory& memory, const std::function<int(sys::SessionMemory&)>& engine);

}  // namespace sockhop::session
