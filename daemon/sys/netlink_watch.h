// Says whether anything that routes or filters changed in one network namespace.
//
// The kernel queues the event before the call that made the change returns, so an answer that was
// asked before a changed() == false is still true.
#pragma once

#include <optional>

#include "base/result.h"
#include "sys/netlink.h"

namespace sockhop::sys {

/// nftables events take CAP_NET_ADMIN over the namespace; routes do not.
enum class Watched { routes, routes_and_rules };

class NetlinkWatch {
 public:
  /// Opens in the calling thread's network namespace; usable from any thread afterwards.
  static Result<NetlinkWatch> open(Watched what);

  /// Takes all events; true when there was one, or when the kernel dropped some. One recv a socket
  /// (0.3 us) when silent.
  bool changed();

 private:
  NetlinkWatch(NetlinkSocket routes, std::optional<NetlinkSocket> rules)
      : routes_(std::move(routes)), rules_(std::move(rules)) {}
  NetlinkSocket routes_;
  std::optional<NetlinkSocket> rules_;
};

}  // namespace sockhop::sys
