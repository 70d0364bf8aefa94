// Cloning an engine that shares its guard's descriptor table, and taking a session out of reach.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace sockhop::sys {

/// A child with the caller's descriptor table (CLONE_FILES, clone(2)) and a copy of everything
/// else; killed when the caller dies. `run`'s value is its exit status. The caller must have one
/// thread.
Result<int> clone_engine(const std::function<int()>& run);

struct EngineEnd {
  bool by_itself = false;  // exited, not killed
  int status = 0;          // exit status, or the signal
};
/// From here on the end of a child interrupts wait_while; before the first clone_engine.
void watch_children();
/// Waits until the child ends (its end), `notify` hangs up or the time is over (nothing). Any
/// signal may end it early, with nothing. Milliseconds; -1 for ever. No descriptor is needed: the
/// table is the engine's too, which closes those it does not know.
Result<std::optional<EngineEnd>> wait_while(int child, FdRef notify, int milliseconds);
/// Waits for the child's end.
Result<EngineEnd> wait_for(int child);
/// kill(2) by SIGKILL, and its end.
Result<EngineEnd> end_child(int child);

/// prctl(2): nobody of the same uid may trace the process or read its descriptors from now on.
void make_undumpable();

/// Enters the user namespace when it is not the caller's own (setns(2); one thread only).
Status enter_user_namespace(FdRef userns);

/// st_ino of the calling process's user namespace.
std::uint64_t own_user_namespace();
/// Does a process stand in the user namespace `home`, which this one has left? From inside,
/// whatever stands further out cannot be looked at (EACCES), and whatever stands in a container
/// can.
bool stands_in(std::int32_t process, std::uint64_t home);

/// A sealed-off copy of `bytes` in memory (memfd_create(2)), and back.
Result<UniqueFd> bytes_to_fd(std::string_view bytes);
Result<std::string> bytes_of_fd(FdRef fd);

}  // namespace sockhop::sys
