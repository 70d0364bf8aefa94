// The engine process: one session, and the keeper's requests to it.
#pragma once

#include "sys/session_memory.h"

namespace sockhop::session {

/// Runs until the container is gone or the keeper says stop; the exit status.
int run_engine(sys::SessionMemory& memory);

}  // namespace sockhop::session
