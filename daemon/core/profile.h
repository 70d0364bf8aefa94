// Merges sockhop's notify rules into the seccomp section of an OCI config.json.
//
// Never widens: a call that the profile refuses stays refused. A NOTIFY rule with arguments beside an
// ALLOW of the same name is silently swallowed by libseccomp (2.5.4, both orders), so the name is
// taken out of every ALLOW rule and the complement of our condition is added. Scalar rules compare
// the low 32 bits (SCMP_CMP_MASKED_EQ): the kernel truncates an int argument, libseccomp compares 64.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sockhop::core {

struct ProfileOptions {
  /// The socket the runtime sends the notify fd to (linux.seccomp.listenerPath).
  std::string listener_path;
  /// Set SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV; runc before 1.5 refuses any flag.
  bool wait_killable = false;
  /// Answer io_uring_setup & co. with ENOSYS.
  bool refuse_io_uring = true;
};

/// `config` is the whole config.json; so is the answer.
Result<std::string> apply_profile(std::string_view config, const ProfileOptions& options);

}  // namespace sockhop::core
