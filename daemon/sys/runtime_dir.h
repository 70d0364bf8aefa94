// The directory of our sockets, $XDG_RUNTIME_DIR/sockhop, and who may serve it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace sockhop::sys {

/// Paths of one running daemon.
struct RuntimeDir {
  std::string path;  // absolute, no slash at the end

  [[nodiscard]] std::string seccomp_socket() const { return path + "/seccomp.sock"; }
  [[nodiscard]] std::string control_socket() const { return path + "/sockhop.sock"; }
  [[nodiscard]] std::string sessions() const { return path + "/sessions"; }
  /// Registrations whose container has not come.
  [[nodiscard]] std::string waiting() const { return path + "/waiting"; }
  /// `name` is core::session_file_name's.
  [[nodiscard]] std::string session_socket(const std::string& name) const {
    return sessions() + "/" + name;
  }
};

/// Where the directory is or would be; an error with the remedy when XDG_RUNTIME_DIR is missing.
Result<RuntimeDir> find_runtime_dir();
/// The same for a program that an engine starts, perhaps with an empty environment and in a user
/// namespace of its own: without XDG_RUNTIME_DIR that of the user who is root there (uid_map).
Result<RuntimeDir> find_engines_runtime_dir();
/// Where the daemon's configuration lies unless it is told: $XDG_CONFIG_HOME, else ~/.config (XDG
/// base directory specification). Empty when neither variable says.
std::string default_config_path();
/// Makes it and sessions/ below, mode 0700; refuses a directory of somebody else.
Result<RuntimeDir> make_runtime_dir();

/// Held for as long as a daemon serves the directory; EBUSY while another one does. The kernel lets
/// go of it with the process, so a crash leaves nothing to clean up.
Result<UniqueFd> lock_runtime_dir(const RuntimeDir& dir);

/// Full paths of the files named *.sock in sessions/.
std::vector<std::string> list_session_sockets(const RuntimeDir& dir);

}  // namespace sockhop::sys
