// Reads what one network namespace filters, rewrites, shapes or selects by rule: nftables (which
// includes iptables-nft), legacy iptables, ip rules, xfrm policies, queueing disciplines.
//
// Takes CAP_NET_ADMIN over the namespace, in the opener and in the thread that reads.
#pragma once

#include <optional>

#include "base/result.h"
#include "core/route_answer.h"
#include "sys/legacy_tables.h"
#include "sys/netlink.h"

namespace sockhop::sys {

class RuleReader {
 public:
  /// Opens in the calling thread's network namespace; usable from any thread afterwards. The
  /// calling thread should stay in the namespace: where the kernel gets legacy iptables only later,
  /// the tables are found through the thread's /proc entry.
  static Result<RuleReader> open();

  /// Reads everything anew. Legacy tables and xfrm policies send no event that NetlinkWatch hears:
  /// call this once a second while answers are used.
  Result<core::Filtering> read();

 private:
  RuleReader(NetlinkSocket netfilter, NetlinkSocket route, std::optional<NetlinkSocket> xfrm,
             LegacyTables legacy)
      : netfilter_(std::move(netfilter)),
        route_(std::move(route)),
        xfrm_(std::move(xfrm)),
        legacy_(std::move(legacy)) {}
  /// ip rules that look at more than the destination, queues that shape or classify, xfrm.
  Result<bool> has_more_than_routes();

  NetlinkSocket netfilter_;
  NetlinkSocket route_;
  std::optional<NetlinkSocket> xfrm_;  // absent where the kernel has no xfrm
  LegacyTables legacy_;
};

}  // namespace sockhop::sys
