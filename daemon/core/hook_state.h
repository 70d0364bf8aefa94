// The state that an OCI runtime gives its hooks on standard input (runtime-spec, runtime.md).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sockhop::core {

struct HookState {
  std::string id;
  std::string bundle;
};

/// crun adds members, and leaves out or zeroes `pid` at poststop: only the id is required.
Result<HookState> parse_hook_state(std::string_view text);

/// The listenerPath of an OCI config; empty when it has none.
Result<std::string> listener_of(std::string_view config);

}  // namespace sockhop::core
