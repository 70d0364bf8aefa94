// Starting another program of ours, and hearing of its end.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace sockhop::sys {

struct Program {
  std::string path;
  std::vector<std::string> arguments;  // without the program's own name
  /// Become 3, 4, ... in the child, in this order; every other descriptor above 2 is closed there.
  std::vector<FdRef> descriptors;
};

/// Starts it in a session (setsid) of its own with default signal handling, so that it outlives the
/// caller and its terminal. The child is to be reaped by reap_child().
Result<pid_t> spawn(const Program& program);

/// A pipe (reading end, writing end) whose reading end shows that the holder of the other has
/// ended. Unlike our sockets it blocks: a shell can read from it.
Result<std::pair<UniqueFd, UniqueFd>> make_lifeline();

/// Sends a signal to a child that has not been reaped.
void signal_child(pid_t child, int signal);

struct EndedChild {
  pid_t pid = 0;
  int status = 0;  // as wait(2) gives it
};
/// Takes one ended child without waiting.
std::optional<EndedChild> reap_child();

/// "exit status 1", "signal 9".
std::string describe_exit(int wait_status);

/// The folder of the running program.
Result<std::string> own_folder();
/// Where a program of this installation lies: beside the running one, else in ../libexec/sockhop.
Result<std::string> find_program(const std::string& name);
/// A file of this installation in ../share/sockhop.
Result<std::string> find_shared_file(const std::string& name);

}  // namespace sockhop::sys
