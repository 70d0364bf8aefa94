// The command line that an engine calls an OCI runtime with: runc's and crun's, as far as it tells
// which container is about to be made of which bundle.
#pragma once

#include <string>
#include <vector>

namespace sockhop::core {

struct RuntimeCommand {
  /// `creates`: create and run. `deletes`: delete. Everything else is none of our business.
  enum class Kind { creates, deletes, other };
  Kind kind = Kind::other;
  std::string container;                    // empty: the runtime will say that it is missing
  std::string bundle = ".";                 // --bundle
  std::string config_file = "config.json";  // crun's --config, relative to the bundle
  std::string log;                          // --log; empty: none
  bool log_is_json = false;                 // --log-format json
};

/// `arguments` without the program's name. Nothing is refused: the runtime itself does that.
/// Both "--option value" and "--option=value" are read, and one dash as well as two.
RuntimeCommand parse_runtime_command(const std::vector<std::string>& arguments);

/// A line for the runtime's --log file, as the runtime itself writes one, with its end.
/// `level`: "warning", "error". `time`: RFC 3339.
std::string runtime_log_line(bool json, const std::string& level, const std::string& message,
                             const std::string& time);

}  // namespace sockhop::core
