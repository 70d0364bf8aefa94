// AF_UNIX sockets by path: listening, accepting, connecting, and unnamed pairs.
//
// Every descriptor is close-on-exec and non-blocking unless a comment says otherwise. Paths are
// refused when they do not fit sun_path (107 bytes).
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

namespace sockhop::sys {

enum class SocketKind { stream, packets };  // SOCK_STREAM, SOCK_SEQPACKET

/// Listens at `path` with mode 0600; whatever socket lies there is replaced (the caller holds the
/// lock of the runtime directory, so nobody else can be serving it). Other files are left alone.
Result<UniqueFd> listen_unix(const std::string& path, SocketKind kind);

/// Connects without waiting; ECONNREFUSED tells that nobody listens any more.
Result<UniqueFd> connect_unix(const std::string& path, SocketKind kind);

/// The next waiting connection, or an empty owner when there is none.
Result<UniqueFd> accept_unix(FdRef listener);

/// Two connected SOCK_SEQPACKET sockets.
Result<std::pair<UniqueFd, UniqueFd>> packet_pair();

/// Removes a socket file; a missing one is no error.
void remove_socket(const std::string& path);

}  // namespace sockhop::sys
