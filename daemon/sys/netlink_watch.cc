#include "sys/netlink_watch.h"

#include <linux/netfilter/nfnetlink.h>
#include <linux/rtnetlink.h>

namespace sockhop::sys {
namespace {

constexpr std::uint32_t kRouteGroups[] = {
    RTNLGRP_LINK,       RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR,
    RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,  RTNLGRP_IPV4_RULE,
    RTNLGRP_IPV6_RULE,  RTNLGRP_NEXTHOP,     RTNLGRP_TC};

}  // namespace

Result<NetlinkWatch> NetlinkWatch::open(Watched what) {
  auto routes = NetlinkSocket::open(NETLINK_ROUTE);
  if (!routes) return routes.error();
  for (const auto group : kRouteGroups) {
    if (auto joined = routes->join(group); !joined) return joined.error();
  }
  if (what == Watched::routes) return NetlinkWatch(std::move(*routes), std::nullopt);
  auto rules = NetlinkSocket::open(NETLINK_NETFILTER);
  if (!rules) return rules.error();
  if (auto joined = rules->join(NFNLGRP_NFTABLES); !joined) return joined.error();
  return NetlinkWatch(std::move(*routes), std::move(*rules));
}

bool NetlinkWatch::changed() {
  bool changed = routes_.discard() != NetlinkSocket::Drained::nothing;
  if (rules_ && rules_->discard() != NetlinkSocket::Drained::nothing) changed = true;
  return changed;
}

}  // namespace sockhop::sys
