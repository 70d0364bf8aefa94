// Bytes from one socket to another through a pipe that outlives whoever moves them (splice(2)).
#pragma once

#include <array>
#include <cstddef>

#include "base/result.h"
#include "base/unique_fd.h"

namespace sockhop::sys {

/// Read end, write end; both non-blocking.
Result<std::array<UniqueFd, 2>> make_pipe();
/// Bytes that wait in a pipe.
std::size_t bytes_in(FdRef pipe);

/// Moves what is there, without waiting. 0: end of the stream. EAGAIN: nothing to read, or no room.
Result<std::size_t> splice_some(FdRef from, FdRef to);

Status shut_down_writing(FdRef socket);
/// Makes the close of a socket a reset.
void reset_on_close(FdRef socket);
/// The error that a socket met (SO_ERROR), which is taken by this; 0 when none.
int take_socket_error(FdRef socket);

}  // namespace sockhop::sys
