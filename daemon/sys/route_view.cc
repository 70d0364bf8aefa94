#include "sys/route_view.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "sys/inet_bytes.h"

namespace sockhop::sys {
namespace {

using core::RouteAnswer;
using core::RouteKind;
using RouteAttributes = NetlinkAttributes<RTA_MAX + 1>;

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

RouteKind kind_of(unsigned char type) {
  switch (type) {
    case RTN_UNICAST:
      return RouteKind::unicast;
    case RTN_LOCAL:
    case RTN_ANYCAST:
      return RouteKind::local;
    case RTN_BROADCAST:
      return RouteKind::broadcast;
    case RTN_MULTICAST:
      return RouteKind::multicast;
    default:  // unreachable, prohibit, blackhole, throw, and what a later kernel adds
      return RouteKind::refused;
  }
}

std::optional<core::Address> address_in(const nlattr* attribute) {
  if (attribute == nullptr) return std::nullopt;
  return address_of_bytes({static_cast<const std::byte*>(mnl_attr_get_payload(attribute)),
                           mnl_attr_get_payload_len(attribute)});
}

// RTA_VIA is a next hop of the other family: two bytes of family, then the address.
std::optional<core::Address> address_in_via(const nlattr* attribute) {
  if (attribute == nullptr) return std::nullopt;
  const auto* bytes = static_cast<const std::byte*>(mnl_attr_get_payload(attribute));
  const std::size_t length = mnl_attr_get_payload_len(attribute);
  return address_of_bytes({bytes + sizeof(sa_family_t), length - sizeof(sa_family_t)});
}

RouteAnswer read_answer(const nlmsghdr& message) {
  RouteAnswer answer;
  if (message.nlmsg_type != RTM_NEWROUTE || mnl_nlmsg_get_payload_len(&message) < sizeof(rtmsg)) {
    return answer;
  }
  const auto* route = static_cast<const rtmsg*>(mnl_nlmsg_get_payload(&message));
  const auto attributes = RouteAttributes::of_message(message, sizeof(rtmsg));
  answer.kind = kind_of(route->rtm_type);
  if (const auto* device = attributes.find(RTA_OIF, sizeof(std::uint32_t))) {
    answer.device = static_cast<int>(mnl_attr_get_u32(device));
  }
  answer.gateway = address_in(attributes.find(RTA_GATEWAY));
  if (!answer.gateway) {
    answer.gateway = address_in_via(attributes.find(RTA_VIA, sizeof(sa_family_t)));
  }
  answer.source = address_in(attributes.find(RTA_PREFSRC));
  answer.encapsulated = attributes.find(RTA_ENCAP_TYPE) != nullptr;
  return answer;
}

// The entry that matched, instead of the one way that was picked from it. A next hop group shows as
// RTA_MULTIPATH, or (net.ipv4.nexthop_compat_mode=0) as an id without a device.
bool names_several(const nlmsghdr& message) {
  if (mnl_nlmsg_get_payload_len(&message) < sizeof(rtmsg)) return false;
  const auto attributes = RouteAttributes::of_message(message, sizeof(rtmsg));
  return attributes.find(RTA_MULTIPATH) != nullptr ||
         (attributes.find(RTA_NH_ID) != nullptr && attributes.find(RTA_OIF) == nullptr);
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
      socket_.ask(request, [&](const nlmsghdr& message) { answer = read_answer(message); });
  if (!asked) {
    const auto kind = kind_of_error(asked.error().code);
    if (!kind) return asked.error();
    answer = {};
    answer.kind = *kind;
    return answer;
  }
  if (answer.kind != RouteKind::unicast) return answer;
  auto match = make_request(destination, RTM_F_FIB_MATCH);
  const auto matched = socket_.ask(
      match, [&](const nlmsghdr& message) { answer.several_paths = names_several(message); });
  if (!matched) return matched.error();
  return answer;
}

}  // namespace sockhop::sys
