// How sockhop-runtime is set up (TOML), and which runtime stands behind the name it is called by.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sockhop::core {

struct RuntimeConfig {
  /// Name or path of the real runtime; empty: by the name we are called by.
  std::string runtime;
  /// A container that cannot be accelerated is not started.
  bool required = false;
  /// Nothing is written to the container's stderr; the runtime's --log file is told all the same.
  bool quiet = false;
  /// Leave io_uring as the profile has it.
  bool allow_io_uring = false;
  /// For everything that is asked of sockhopd at one start, together.
  std::chrono::milliseconds patience{3000};
  /// The engine's default seccomp profile, for a container that has none; empty: looked for.
  std::string default_profile;
};

/// Unknown keys and wrong types are errors that name line and key.
Result<RuntimeConfig> parse_runtime_config(std::string_view text);

/// The real runtime for a name that we are called by: "sockhop-crun" and "crun" mean crun;
/// "sockhop-runtime" leaves it open (empty).
std::string runtime_behind(std::string_view own_name);

/// Can the runtime set SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (Linux 5.19)? crun can since 1.6,
/// runc since 1.5.0 with libseccomp 2.6; an older runc refuses a profile that has any flag.
/// `version`: what `RUNTIME --version` prints; `release`: uname -r.
bool runtime_sets_wait_killable(std::string_view version, std::string_view release);

}  // namespace sockhop::core
