// `sockhop run`: one program in a rootless sandbox with sockhop, without an engine.
#pragma once

#include <string>
#include <vector>

#include "cli/client.h"

namespace sockhop::cli {

struct RunOptions {
  std::vector<std::string> ports;  // [IP:]HOST:CONT[/PROTO]
  std::vector<std::string> rules;
  std::string rootfs;   // the root file system inside; empty: the host's, with `bind`
  std::string bind;     // "/"
  std::string network;  // slirp4netns, pasta; empty: the first that is installed
  std::vector<std::string> command;
};

/// Its exit status is the program's, or ExitStatus when there was none.
int run_sandbox(const RunOptions& options);

}  // namespace sockhop::cli
