// The `linux.seccomp` section of an OCI config as values (runtime-spec, config-linux.md).
#pragma once

#include <boost/json/fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/profile_terms.h"

namespace sockhop::core {

inline constexpr std::string_view kActionAllow = "SCMP_ACT_ALLOW";
inline constexpr std::string_view kActionLog = "SCMP_ACT_LOG";
inline constexpr std::string_view kActionErrno = "SCMP_ACT_ERRNO";
inline constexpr std::string_view kActionNotify = "SCMP_ACT_NOTIFY";

/// One entry of `syscalls`: an action for the named calls whose arguments are in `when`.
struct SeccompRule {
  std::vector<std::string> names;
  std::string action;
  std::optional<unsigned> error;  // errnoRet; the runtimes take EPERM when absent
  Terms when;
};

/// LOG runs the call too.
bool is_permitting(std::string_view action);

/// The rules of `section.syscalls`, in order; the error names the entry that is wrong.
Result<std::vector<SeccompRule>> read_rules(const boost::json::object& section);

/// Entries for `syscalls`: one for each term, as the runtimes expect it.
boost::json::array write_rule(const SeccompRule& rule);

}  // namespace sockhop::core
