// Reads what one network namespace filters, rewrites or selects by rule: nftables (which includes
// iptables-nft), legacy iptables, ip rules, xfrm policies.
//
// Takes CAP_NET_ADMIN over the namespace, in the opener and in the thread that reads.
#pragma once

#include <optional>

#include "base/result.h"
#include "base/unique_fd.h"
#include "core/route_answer.h"
#include "sys/netlink.h"

namespace sockhop::sys {

class RuleReader {
 public:
  /// Opens in the calling thread's network namespace; usable from any thread afterwards. The
  /// calling thread should stay in the namespace: where legacy iptables is loaded into the kernel
  /// only later, it is looked for through the thread's /proc entry (without the thread: unknown).
  static Result<RuleReader> open();

  /// Reads everything anew. Legacy tables and xfrm policies send no event that NetlinkWatch hears:
  /// call this at least once a second while answers are used.
  Result<core::Filtering> read();

 private:
  RuleReader(NetlinkSocket netfilter, NetlinkSocket route, NetlinkSocket xfrm);
  Result<core::Filtering> read_nftables();
  Result<core::Filtering> read_legacy();
  Result<bool> has_selecting_ip_rule();
  Result<bool> has_xfrm_policy();

  NetlinkSocket netfilter_;
  NetlinkSocket route_;
  std::optional<NetlinkSocket> xfrm_;  // absent where the kernel has no xfrm
  UniqueFd proc_net_;
};

}  // namespace sockhop::sys
