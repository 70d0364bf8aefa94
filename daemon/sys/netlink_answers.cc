#include "sys/netlink_answers.h"

#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "sys/inet_bytes.h"
#include "sys/netlink.h"

namespace sockhop::sys {
namespace {

using core::DeviceFacts;
using core::DeviceKind;
using core::RouteAnswer;
using core::RouteKind;
using RouteAttributes = NetlinkAttributes<RTA_MAX + 1>;

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

std::string_view text_of(const nlattr* attribute) {
  if (attribute == nullptr) return {};
  const std::string_view all(static_cast<const char*>(mnl_attr_get_payload(attribute)),
                             mnl_attr_get_payload_len(attribute));
  return all.substr(0, all.find('\0'));
}

DeviceKind kind_named(std::string_view name) {
  if (name == "tun") return DeviceKind::tap;
  if (name == "veth") return DeviceKind::veth;
  if (name == "bridge") return DeviceKind::bridge;
  return DeviceKind::other;
}

// A rule with one of these may send the container's packets elsewhere than it sends our question.
// A device to leave by (FRA_OIFNAME) is one that the application bound its socket to: such a socket
// stays.
constexpr std::array<int, 6> kSelectors{FRA_SRC,         FRA_UID_RANGE,   FRA_IP_PROTO,
                                        FRA_SPORT_RANGE, FRA_DPORT_RANGE, FRA_TUN_ID};

// Queues that only queue.
constexpr std::array<std::string_view, 8> kPlainQueues{"noqueue",  "noop", "pfifo_fast", "pfifo",
                                                       "fq_codel", "fq",   "mq",         "mqprio"};

}  // namespace

core::RouteAnswer route_of(const nlmsghdr& message) {
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

bool names_several_ways(const nlmsghdr& message) {
  if (mnl_nlmsg_get_payload_len(&message) < sizeof(rtmsg)) return false;
  const auto attributes = RouteAttributes::of_message(message, sizeof(rtmsg));
  return attributes.find(RTA_MULTIPATH) != nullptr ||
         (attributes.find(RTA_NH_ID) != nullptr && attributes.find(RTA_OIF) == nullptr);
}

core::DeviceFacts device_of(const nlmsghdr& message) {
  DeviceFacts device;
  if (message.nlmsg_type != RTM_NEWLINK ||
      mnl_nlmsg_get_payload_len(&message) < sizeof(ifinfomsg)) {
    return device;
  }
  const auto* info = static_cast<const ifinfomsg*>(mnl_nlmsg_get_payload(&message));
  const auto attributes = NetlinkAttributes<IFLA_MAX + 1>::of_message(message, sizeof(ifinfomsg));
  device.index = info->ifi_index;
  device.name = text_of(attributes.find(IFLA_IFNAME));
  if (const auto* nest = attributes.find(IFLA_LINKINFO)) {
    const auto link = NetlinkAttributes<IFLA_INFO_MAX + 1>::of_nest(nest);
    device.kind = kind_named(text_of(link.find(IFLA_INFO_KIND)));
  }
  if ((info->ifi_flags & IFF_LOOPBACK) != 0) device.kind = DeviceKind::loopback;
  if (const auto* master = attributes.find(IFLA_MASTER, sizeof(std::uint32_t))) {
    device.master = static_cast<int>(mnl_attr_get_u32(master));
  }
  // Without a namespace id the other end lies in the same namespace: its index says nothing about
  // the middle.
  const auto* peer = attributes.find(IFLA_LINK, sizeof(std::uint32_t));
  if (device.kind == DeviceKind::veth && peer != nullptr &&
      attributes.find(IFLA_LINK_NETNSID) != nullptr) {
    device.peer_index = static_cast<int>(mnl_attr_get_u32(peer));
  }
  return device;
}

std::optional<core::Address> address_of(const nlmsghdr& message) {
  if (message.nlmsg_type != RTM_NEWADDR) return std::nullopt;
  if (mnl_nlmsg_get_payload_len(&message) < sizeof(ifaddrmsg)) return std::nullopt;
  const auto attributes = NetlinkAttributes<IFA_MAX + 1>::of_message(message, sizeof(ifaddrmsg));
  // On a point-to-point device IFA_ADDRESS is the other side.
  const auto* address = attributes.find(IFA_LOCAL);
  return address_in(address != nullptr ? address : attributes.find(IFA_ADDRESS));
}

void add_selectors(const nlmsghdr& message, core::RouteSelectors& selectors) {
  if (message.nlmsg_type != RTM_NEWRULE) return;
  if (mnl_nlmsg_get_payload_len(&message) < sizeof(fib_rule_hdr)) {
    selectors.anything_else = true;
    return;
  }
  const auto* header = static_cast<const fib_rule_hdr*>(mnl_nlmsg_get_payload(&message));
  const auto rule = NetlinkAttributes<FRA_MAX + 1>::of_message(message, sizeof(fib_rule_hdr));
  if (header->tos != 0 || std::any_of(kSelectors.begin(), kSelectors.end(), [&](int selector) {
        return rule.find(selector) != nullptr;
      })) {
    selectors.anything_else = true;
  }
  if (rule.find(FRA_FWMARK) != nullptr || rule.find(FRA_FWMASK) != nullptr) selectors.mark = true;
  if (rule.find(FRA_IIFNAME) != nullptr) selectors.in_device = true;
}

bool shapes_or_classifies(const nlmsghdr& message) {
  if (message.nlmsg_type != RTM_NEWQDISC) return false;
  const auto queue = NetlinkAttributes<TCA_MAX + 1>::of_message(message, sizeof(tcmsg));
  const auto* kind = queue.find(TCA_KIND);
  if (kind == nullptr) return true;
  const auto name = text_of(kind);
  return std::find(kPlainQueues.begin(), kPlainQueues.end(), name) == kPlainQueues.end();
}

}  // namespace sockhop::sys
