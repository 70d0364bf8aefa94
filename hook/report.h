// How an engine and its user hear of what sockhop-runtime has to say.
#pragma once

#include <string>

#include "core/runtime_command.h"

namespace sockhop::hook {

enum class Level { warning, error };

/// To stderr, which is the container's own where an engine calls (so `quiet` leaves it out for
/// warnings), and to the runtime's --log file, where containerd and Docker look for the reason of a
/// failure.
void report(const core::RuntimeCommand& command, Level level, const std::string& message,
            bool quiet);

}  // namespace sockhop::hook
