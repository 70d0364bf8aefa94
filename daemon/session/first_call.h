// Finding a container whose process nobody can name: a runtime in another pid namespace wrote a
// number down that means nothing here. Its first notified call names a thread of it.
#pragma once

#include <optional>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sys/session_memory.h"

namespace sockhop::session {

/// Waits until the container makes a notified call, leaves that in the first slot for the engine,
/// and answers the network namespace it came from; the kept Start then says what was found. Serves
/// the keeper meanwhile. Nothing when the container has ended, or the keeper asked for the end,
/// before that. For a guard that has no engine yet.
Result<std::optional<UniqueFd>> wait_for_first_call(sys::SessionMemory& memory);

/// Lets that call run: there will be no engine.
void give_first_call_back(sys::SessionMemory& memory);

}  // namespace sockhop::session
