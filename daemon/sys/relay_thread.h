// What a thread that writes to connections of strangers must arrange for.
#pragma once

namespace sockhop::sys {

/// splice(2) raises SIGPIPE where send(2) could be told not to; blocked, it stays an EPIPE.
void block_broken_pipe_signal();

}  // namespace sockhop::sys
