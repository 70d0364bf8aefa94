// Merges sockhop's notify rules into the seccomp section of an OCI config.json.
//
// What is notified, answered and left alone: profile_merge. In short:
//
//   - A call that the profile refuses stays refused; conditions of its permissions are kept.
//   - A NOTIFY rule with arguments beside an ALLOW of the same name is silently swallowed by
//     libseccomp (2.5.4, both orders), so the name is taken out of every permitting rule and
//     permitted again where our condition does not hold.
//   - Scalar rules compare the low 32 bits (SCMP_CMP_MASKED_EQ): the kernel truncates an int
//     argument, libseccomp compares 64.
//   - Where the profile's conditions and ours together cannot be said in rules (a range of the
//     flags of sendto, say), the call is left as the profile has it and is not notified.
//   - The architectures x86_64, x86 and x32 are listed: a filter that does not list them kills
//     their calls, and the rules hold for all three alike.
//   - i386 socketcall is notified whole when the profile permits it by name. When it permits only
//     calls that libseccomp maps onto it, their unconditional rules still apply to socketcall;
//     scalar rules do not, for the scalars lie in memory there.
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

/// `config` is the whole config.json (at most 16 MiB); so is the answer, which differs in
/// linux.seccomp only. A config without that section gets one that allows everything else: the
/// caller puts an engine's default there before, if there is one. Applying it again with the same
/// listener path changes nothing. Errors: text that is no OCI config, another program's listener or
/// NOTIFY rules.
Result<std::string> apply_profile(std::string_view config, const ProfileOptions& options);

}  // namespace sockhop::core
