// The user-space network of a sandbox.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace sockhop::cli {

struct SandboxNetwork {
  std::string nameserver;  // to be used inside; empty: the host's own are reached
  UniqueFd lifeline;       // the program ends when this is closed
};

/// Which of both; an error that names the packages when neither is there, or not the wanted one.
Result<std::string> choose_network(const std::string& wanted);

/// Serves the network namespace of `pid`; back when it works. `name`: choose_network's. `log`: a
/// file for what the program says, which is part of the error when it ends.
Result<SandboxNetwork> start_network(const std::string& name, pid_t pid, const std::string& log);

}  // namespace sockhop::cli
