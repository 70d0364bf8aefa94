// What becomes of a container that no session can be started for: a process of its own lets each
// of its calls run as if it had not been notified. Without it they would fail with ENOSYS.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace sockhop::keeper {

/// The first word of the command line of such a process; the container's id follows.
inline constexpr const char* kLetRun = "--let-run";

/// Starts one from the keeper's own program file, which needs to lie nowhere. It lives as long as
/// the notify fd does, and longer than the keeper.
Status start_letting_run(const std::string& id, FdRef notify);

/// The process itself, with the notify fd at 3; its exit status.
int let_run();

}  // namespace sockhop::keeper
