// Legacy iptables tables of one network namespace, read the way iptables does (getsockopt).
//
// Asking for a table by name would create it; only those that /proc/net/ip_tables_names lists are
// read. That file exists per namespace once the kernel has the module.
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"
#include "core/rule_set.h"

namespace sockhop::sys {

class LegacyTables {
 public:
  /// Opens in the calling thread's network namespace; usable from any thread afterwards. Needs
  /// CAP_NET_ADMIN over the namespace.
  static Result<LegacyTables> open();

  /// Both families. An error where a table cannot be read, or is larger than 4 MiB.
  Result<core::RuleSet> read();

 private:
  struct Family {
    UniqueFd names;   // /proc/net/ip_tables_names, absent while the kernel has none
    UniqueFd socket;  // absent where the kernel lacks the family
  };
  UniqueFd proc_net_;
  Family v4_;
  Family v6_;
};

}  // namespace sockhop::sys
