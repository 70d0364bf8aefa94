#include "sys/link_view.h"

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <string_view>

#include "sys/inet_bytes.h"

namespace sockhop::sys {
namespace {

using core::DeviceFacts;
using core::DeviceKind;

constexpr std::size_t kMaxAddresses = 4096;

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

DeviceFacts read_device(const nlmsghdr& message) {
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

}  // namespace

Result<LinkView> LinkView::open() {
  auto socket = NetlinkSocket::open(NETLINK_ROUTE);
  if (!socket) return socket.error();
  return LinkView(std::move(*socket));
}

Result<DeviceFacts> LinkView::get(int index) {
  NetlinkRequest request(RTM_GETLINK, 0);
  request.add_header<ifinfomsg>()->ifi_index = index;
  mnl_attr_put_u32(request.header, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
  DeviceFacts device;
  const auto asked =
      socket_.ask(request, [&](const nlmsghdr& message) { device = read_device(message); });
  if (!asked) return asked.error();
  if (device.index != index) return Error{ENODEV, "RTM_GETLINK", {}};
  return device;
}

Result<std::vector<core::Address>> LinkView::addresses(int index) {
  NetlinkRequest request(RTM_GETADDR, NLM_F_DUMP);
  request.add_header<ifaddrmsg>()->ifa_index = static_cast<std::uint32_t>(index);
  std::vector<core::Address> all;
  const auto asked = socket_.ask(request, [&](const nlmsghdr& message) {
    if (message.nlmsg_type != RTM_NEWADDR || all.size() >= kMaxAddresses) return;
    if (mnl_nlmsg_get_payload_len(&message) < sizeof(ifaddrmsg)) return;
    const auto attributes = NetlinkAttributes<IFA_MAX + 1>::of_message(message, sizeof(ifaddrmsg));
    // On a point-to-point device IFA_ADDRESS is the other side.
    const auto* address = attributes.find(IFA_LOCAL);
    if (address == nullptr) address = attributes.find(IFA_ADDRESS);
    if (address == nullptr) return;
    const auto value =
        address_of_bytes({static_cast<const std::byte*>(mnl_attr_get_payload(address)),
                          mnl_attr_get_payload_len(address)});
    if (value) all.push_back(*value);
  });
  // With strict checking the kernel answers ENODEV for a device that is gone.
  if (!asked) return asked.error();
  return all;
}

}  // namespace sockhop::sys
