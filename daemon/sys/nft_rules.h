// The nftables rule set of one network namespace (iptables-nft included), by nfnetlink dumps.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "core/rule_set.h"
#include "sys/netlink.h"

namespace sockhop::sys {

/// The number of the last change that the namespace's rules saw; 0 where the kernel has none.
/// `socket` speaks NETLINK_NETFILTER.
Result<std::uint32_t> nft_generation(NetlinkSocket& socket);

/// One dump when there are no tables; else four, and one for each set. What the kernel does not
/// offer (no nftables) counts as no rules; EINTR when a dump was interrupted by a change, E2BIG
/// when there are more than 20,000 rules or 65,536 elements.
Result<core::RuleSet> read_nft_rules(NetlinkSocket& socket);

}  // namespace sockhop::sys
