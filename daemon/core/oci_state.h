// The container process state that an OCI runtime sends with a notify fd (runtime-spec, seccomp
// listener). Any JSON layout, any size up to 1 MiB, split anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace sockhop::core {

inline constexpr std::size_t kMaxOciState = 1024 * 1024;

struct OciState {
  std::string id;        // state.id
  std::int64_t pid = 0;  // crun exec sends 0: never required
  std::string status;    // "creating", "running"
  std::string bundle;
  std::string metadata;
  std::vector<std::string> fds;  // fds[i] names the i-th descriptor received
  std::map<std::string, std::string> annotations;

  /// Index of "seccompFd" in fds, or -1. A state that OciStateReader gave has exactly one.
  [[nodiscard]] int seccomp_fd_index() const;
};

/// The longest container id that is taken; engines use 64.
inline constexpr std::size_t kMaxContainerId = 1024;

/// A container id is 1 to kMaxContainerId printable ASCII characters without space and '/'.
Status check_container_id(std::string_view id);

/// The name of the container's file in the sessions directory, "ID.sock", at most `room` bytes
/// where that is possible at all (a socket's path has 107). An id that is too long or holds
/// characters other than [A-Za-z0-9_.+-] is replaced by '~' and its hash (42 bytes in all): equal
/// ids give equal names, different ids different ones. Precondition: check_container_id(id).
std::string session_file_name(std::string_view id, std::size_t room);

/// Takes the bytes of one connection as they come.
class OciStateReader {
 public:
  OciStateReader();
  ~OciStateReader();
  OciStateReader(OciStateReader&&) noexcept;
  OciStateReader& operator=(OciStateReader&&) noexcept;

  struct NeedMore {};
  using Progress = std::variant<NeedMore, OciState, Error>;
  /// Complete as soon as the JSON object is: never waits for the end of the stream. What follows
  /// the object in `bytes` is ignored. An Error names the member that is wrong. After an OciState
  /// or Error every further call gives an Error.
  Progress feed(std::string_view bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sockhop::core
