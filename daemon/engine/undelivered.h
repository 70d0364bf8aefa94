// Results whose caller was interrupted before it could be told: kept under the socket's cookie, for
// the call that the kernel restarts.
#pragma once

#include <optional>

#include "engine/call.h"

namespace sockhop::engine {

void keep_undelivered(sys::SessionMemory& memory, const sys::Undelivered& result);
/// The result kept for the socket, which is forgotten by this.
std::optional<Return> take_undelivered(sys::SessionMemory& memory, std::uint64_t cookie);

}  // namespace sockhop::engine
