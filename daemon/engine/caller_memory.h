// Reads and writes the caller's memory as the kernel would: bounded, once, with the kernel's errno.
#pragma once

#include <span>

#include "engine/call.h"

namespace sockhop::engine {

/// Copies a socket address in. EINVAL for a length that the kernel refuses, EFAULT for memory that
/// cannot be read. The pointer is not used again.
Result<std::span<const std::byte>> read_sockaddr(ActiveCall& call, const core::RemoteBytes& name,
                                                 std::span<std::byte> room);

/// Writes a name as accept(2) and getsockname(2) do: no more than *length_pointer allows, the true
/// length after it. Nothing is written when `name_pointer` is null. Gone is ESRCH.
Status write_name(ActiveCall& call, std::uint64_t name_pointer, std::uint64_t length_pointer,
                  std::span<const std::byte> name);

/// Writes plain bytes; asks whether the caller still waits between opening its memory and writing.
Status write_bytes(ActiveCall& call, std::uint64_t address, std::span<const std::byte> bytes);

}  // namespace sockhop::engine
