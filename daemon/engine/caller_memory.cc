#include "engine/caller_memory.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/sockaddr.h"

namespace sockhop::engine {

Result<std::span<const std::byte>> read_sockaddr(ActiveCall& call, const core::RemoteBytes& name,
                                                 std::span<std::byte> room) {
  // The kernel takes the length as an int and refuses what does not fit sockaddr_storage.
  const auto length = static_cast<std::int32_t>(name.length);
  if (length < 0 || static_cast<std::size_t>(length) > core::kMaxSockaddr) {
    return Error{EINVAL, "sockaddr", {}};
  }
  const auto bytes = room.first(static_cast<std::size_t>(length));
  if (bytes.empty()) return std::span<const std::byte>(bytes);
  if (!call.tracee->read(name.address, bytes)) return Error{EFAULT, "sockaddr", {}};
  return std::span<const std::byte>(bytes);
}

Status write_bytes(ActiveCall& call, std::uint64_t address, std::span<const std::byte> bytes) {
  const auto memory = call.tracee->open_memory();
  if (!memory) return memory.error();
  if (!call.still_waiting()) return Error{ESRCH, "write", {}};
  if (!memory->write(address, bytes)) return Error{EFAULT, "write", {}};
  return {};
}

Status write_name(ActiveCall& call, std::uint64_t name_pointer, std::uint64_t length_pointer,
                  std::span<const std::byte> name) {
  if (name_pointer == 0) return {};
  std::array<std::byte, 4> raw{};
  if (!call.tracee->read(length_pointer, raw)) return Error{EFAULT, "name", {}};
  std::int32_t room = 0;
  std::memcpy(&room, raw.data(), sizeof room);
  if (room < 0) return Error{EINVAL, "name", {}};
  const auto shown = name.first(std::min(name.size(), static_cast<std::size_t>(room)));
  const auto full = static_cast<std::int32_t>(name.size());
  std::memcpy(raw.data(), &full, sizeof full);
  const auto memory = call.tracee->open_memory();
  if (!memory) return memory.error();
  if (!call.still_waiting()) return Error{ESRCH, "name", {}};
  if (!shown.empty() && !memory->write(name_pointer, shown)) return Error{EFAULT, "name", {}};
  if (!memory->write(length_pointer, raw)) return Error{EFAULT, "name", {}};
  return {};
}

}  // namespace sockhop::engine
