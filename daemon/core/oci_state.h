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
  std::string id;                  // state.id
  std::int64_t pid = 0;            // crun exec sends 0: never required
  std::string status;              // "creating", "running"
  std::string bundle;
  std::string metadata;
  std::vector<std::string> fds;    // fds[i] names the i-th descriptor received
  std::map<std::string, std::string> annotations;

  /// Index of "seccompFd" in fds, or -1.
  [[nodiscard]] int seccomp_fd_index() const;
};

/// Takes the bytes of one connection as they come.
class OciStateReader {
 public:
  OciStateReader();
  ~OciStateReader();
  OciStateReader(OciStateReader&&) noexcept;
  OciStateReader& operator=(OciStateReader&&) noexcept;

  struct NeedMore {};
  using Progress = std::variant<NeedMore, OciState, Error>;
  /// Complete as soon as the JSON object is: never waits for the end of the stream.
  /// After an OciState or Error no more bytes may be given.
  Progress feed(std::string_view bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sockhop::core
