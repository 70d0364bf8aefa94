// Where one network namespace sends a destination: RTM_GETROUTE (rtnetlink(7)).
#pragma once

#include "base/result.h"
#include "core/endpoint.h"
#include "core/route_answer.h"
#include "sys/netlink.h"

namespace sockhop::sys {

class RouteView {
 public:
  /// Opens in the calling thread's network namespace; usable from any thread afterwards.
  static Result<RouteView> open();

  /// "No route" and "prohibited" are answers (RouteKind::none, refused), not errors. Never asks
  /// with RTA_OIF: with it the kernel shows a namespace's own addresses as neighbours.
  Result<core::RouteAnswer> lookup(const core::Address& destination);

 private:
  explicit RouteView(NetlinkSocket socket) : socket_(std::move(socket)) {}
  NetlinkSocket socket_;
};

}  // namespace sockhop::sys
