// Running another program to its end, within a time; and becoming one.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace sockhop::sys {

struct Ended {
  int status = 0;      // as wait(2) gives it
  std::string output;  // stdout and stderr in the order they were written, at most 64 KiB
};

/// `words`: its name (a path, no search) and its arguments. After `patience` it is killed:
/// ETIMEDOUT.
Result<Ended> run_program(const std::vector<std::string>& words,
                          std::chrono::milliseconds patience);

/// Replaces this process; comes back only with the reason why not. Descriptors without
/// close-on-exec, signals and the environment go on as they are. `words[0]` is the name it sees.
Error become_program(const std::string& path, const std::vector<std::string>& words);

/// The program that `name` means: a path as it is, a name by PATH (or by the usual folders where
/// PATH is not set: Podman's clean-up calls have none). Files that are this very program are passed
/// over, so that a wrapper may bear the name of what it wraps.
Result<std::string> find_other_program(const std::string& name);

}  // namespace sockhop::sys
