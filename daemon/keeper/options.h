// What sockhopd was told: the command line, and the configuration file below it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/config.h"

namespace sockhop::keeper {

struct Options {
  std::string config_path;  // empty: $XDG_CONFIG_HOME/sockhop/sockhop.toml, if it is there
  std::string log_level = "info";
  std::vector<std::string> rules;
  std::vector<std::string> uplinks;
  /// Pairs for core::set_option; they win over the file.
  std::vector<std::pair<std::string, std::string>> settings;
};

/// An exit status instead of options when the program is to end (--help, --version, bad usage).
struct EndProgram {
  int status = 0;
};

/// Prints what a person needs to know itself.
std::optional<EndProgram> parse_command_line(int argc, char** argv, Options& options);

/// File and command line together; read again at SIGHUP.
Result<core::Config> load_config(const Options& options);

}  // namespace sockhop::keeper
