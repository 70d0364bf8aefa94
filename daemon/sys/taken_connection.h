// Finds the connection that a dead engine took out of a queue without having written down where.
//
// accept4(2) gives a number that is lost when the engine is killed before it stores it. A session
// takes one connection at a time, and while it does the slot's stage says so; so the one open TCP
// connection that nobody names is it.
#pragma once

#include "base/result.h"
#include "sys/session_memory.h"

namespace sockhop::sys {

/// To be called by a new engine before close_unnamed().
Status find_taken_connection(SessionMemory& memory);

}  // namespace sockhop::sys
