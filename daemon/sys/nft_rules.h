// The nftables rule set of one network namespace (iptables-nft included), by nfnetlink dumps.
//
// Raw messages instead of libnftables: a session may hold 1.5 MB of memory of its own, and the
// question is only which expressions occur.
#pragma once

#include "base/result.h"
#include "core/filtering.h"
#include "sys/netlink.h"

namespace sockhop::sys {

/// One dump when there are no tables, three otherwise. `socket` speaks NETLINK_NETFILTER. What the
/// kernel does not offer (no nftables) counts as no rules; EINTR when the set changed meanwhile.
Result<core::FilteringSum> read_nft_rules(NetlinkSocket& socket);

}  // namespace sockhop::sys
