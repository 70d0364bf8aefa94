// What rtnetlink's messages say (rtnetlink(7)): parsers of any bytes, without a socket.
#pragma once

#include <libmnl/libmnl.h>

#include <optional>
#include <string_view>

#include "core/endpoint.h"
#include "core/filtering.h"
#include "core/route_answer.h"

namespace sockhop::sys {

/// Of RTM_NEWROUTE, the answer to RTM_GETROUTE.
core::RouteAnswer route_of(const nlmsghdr& message);

/// Of the entry that matched (RTM_F_FIB_MATCH), instead of the one way that was picked from it. A
/// next hop group shows as RTA_MULTIPATH, or (net.ipv4.nexthop_compat_mode=0) as an id without a
/// device.
bool names_several_ways(const nlmsghdr& message);

/// Of RTM_NEWLINK; index 0 where the message is none.
core::DeviceFacts device_of(const nlmsghdr& message);

/// Of RTM_NEWADDR: the namespace's own address.
std::optional<core::Address> address_of(const nlmsghdr& message);

/// Adds what an RTM_NEWRULE selects by.
void add_selectors(const nlmsghdr& message, core::RouteSelectors& selectors);

/// Is it an RTM_NEWQDISC of a queue that does more than queue?
bool shapes_or_classifies(const nlmsghdr& message);

}  // namespace sockhop::sys
