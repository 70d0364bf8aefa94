// Devices and addresses of one network namespace: RTM_GETLINK, RTM_GETADDR (rtnetlink(7)).
#pragma once

#include <vector>

#include "base/result.h"
#include "core/endpoint.h"
#include "core/route_answer.h"
#include "sys/netlink.h"

namespace sockhop::sys {

class LinkView {
 public:
  /// Opens in the calling thread's network namespace; usable from any thread afterwards.
  static Result<LinkView> open();

  /// ENODEV when there is no such device. `peer_in_middle` is left false: it takes a second view.
  Result<core::DeviceFacts> get(int index);

  /// Of one device; of the whole namespace for index 0. At most 4096.
  Result<std::vector<core::Address>> addresses(int index);

 private:
  explicit LinkView(NetlinkSocket socket) : socket_(std::move(socket)) {}
  NetlinkSocket socket_;
};

}  // namespace sockhop::sys
