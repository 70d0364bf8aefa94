// A process in namespaces of its own: user, network, mount and pid, made without privilege.
//
// It waits between its making and its program, so that its ids can be mapped and its network be set
// up from outside. It is the first of its pid namespace and dies with the process that made it, so
// whatever it starts ends with us, however we end.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "core/sandbox_config.h"

namespace sockhop::sys {

struct IdMap {
  core::SubIds uids;  // mapped from 1 on by newuidmap(1); count 0: only our own id is mapped, to 0
  core::SubIds gids;
};

class Sandbox {
 public:
  /// `words`: the program (a path) and its arguments, run inside once release() is called.
  /// `bind_root`: a folder at which the host's whole file system is bound before; empty: not.
  static Result<Sandbox> make(const std::vector<std::string>& words, const std::string& bind_root,
                              const IdMap& ids);

  /// As this process sees it.
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// The program starts. Error: what went wrong inside before it.
  Status release();
  /// Waits for its end, passing on SIGTERM and SIGHUP meanwhile; its exit status, 128 + number
  /// after a signal.
  int wait();

 private:
  Sandbox(pid_t pid, UniqueFd gate, UniqueFd report)
      : pid_(pid), gate_(std::move(gate)), report_(std::move(report)) {}
  pid_t pid_;
  UniqueFd gate_;    // a byte: go on; closed without one: end
  UniqueFd report_;  // what failed inside; ends at its exec
};

/// The calling user's name and its ranges in /etc/subuid and /etc/subgid.
IdMap own_id_map();

}  // namespace sockhop::sys
