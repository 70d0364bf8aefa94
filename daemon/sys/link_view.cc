#include "sys/link_view.h"

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "sys/netlink_answers.h"

namespace sockhop::sys {
namespace {

constexpr std::size_t kMaxAddresses = 4096;

}  // namespace

Result<LinkView> LinkView::open() {
  auto socket = NetlinkSocket::open(NETLINK_ROUTE);
  if (!socket) return socket.error();
  return LinkView(std::move(*socket));
}

Result<core::DeviceFacts> LinkView::get(int index) {
  NetlinkRequest request(RTM_GETLINK, 0);
  request.add_header<ifinfomsg>()->ifi_index = index;
  mnl_attr_put_u32(request.header, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
  core::DeviceFacts device;
  const auto asked =
      socket_.ask(request, [&](const nlmsghdr& message) { device = device_of(message); });
  if (!asked) return asked.error();
  if (device.index != index) return Error{ENODEV, "RTM_GETLINK", {}};
  return device;
}

Result<std::vector<core::Address>> LinkView::addresses(int index) {
  NetlinkRequest request(RTM_GETADDR, NLM_F_DUMP);
  request.add_header<ifaddrmsg>()->ifa_index = static_cast<std::uint32_t>(index);
  std::vector<core::Address> all;
  const auto asked = socket_.ask(request, [&](const nlmsghdr& message) {
    const auto address = address_of(message);
    if (address && all.size() < kMaxAddresses) all.push_back(*address);
  });
  // With strict checking the kernel answers ENODEV for a device that is gone.
  if (!asked) return asked.error();
  return all;
}

}  // namespace sockhop::sys
