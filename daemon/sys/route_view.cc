#include "sys/route_view.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "sys/inet_bytes.h"
#include "sys/netlink_answers.h"

namespace sockhop::sys {
namespace {

using core::RouteAnswer;
using core::RouteKind;

NetlinkRequest make_request(const core::Address& destination, unsigned flags) {
  NetlinkRequest request(RTM_GETROUTE, 0);
  auto* route = request.add_header<rtmsg>();
  route->rtm_flags = flags;
  if (destination.is_v4()) {
    const auto bytes = v4_bytes(destination);
    route->rtm_family = AF_INET;
    route->rtm_dst_len = 32;
    mnl_attr_put(request.header, RTA_DST, bytes.size(), bytes.data());
  } else {
    route->rtm_family = AF_INET6;
    route->rtm_dst_len = 128;
    mnl_attr_put(request.header, RTA_DST, destination.bytes.size(), destination.bytes.data());
  }
  return request;
}

// The kernel answers a route that refuses with the errno a connect would give.
std::optional<RouteKind> kind_of_error(int code) {
  switch (code) {
    case ENETUNREACH:
      return RouteKind::none;
    case EHOSTUNREACH:
    case EACCES:
    case EINVAL:
      return RouteKind::refused;
    default:
      return std::nullopt;
  }
}

}  // namespace

Result<RouteView> RouteView::open() {
  auto socket = NetlinkSocket::open(NETLINK_ROUTE);
  if (!socket) return socket.error();
  return RouteView(std::move(*socket));
}

Result<RouteAnswer> RouteView::lookup(const core::Address& destination) {
  RouteAnswer answer;
  auto request = make_request(destination, 0);
  const auto asked =
      socket_.ask(request, [&](const nlmsghdr& message) { answer = route_of(message); });
  if (!asked) {
    const auto kind = kind_of_error(asked.error().code);
    if (!kind) return asked.error();
    answer = {};
    answer.kind = *kind;
    return answer;
  }
  if (answer.kind != RouteKind::unicast && answer.kind != RouteKind::local) return answer;
  auto match = make_request(destination, RTM_F_FIB_MATCH);
  const auto matched = socket_.ask(match, [&](const nlmsghdr& message) {
    answer.several_paths = names_several_ways(message);
    // The way itself goes over loopback.
    if (answer.kind == RouteKind::local) answer.address_device = route_of(message).device;
  });
  if (!matched) return matched.error();
  return answer;
}

}  // namespace sockhop::sys
