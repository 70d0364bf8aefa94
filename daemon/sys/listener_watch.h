// Says which TCP sockets of a network namespace went for good, by sock_diag destroy events, and
// which ones listen (sock_diag(7)).
//
// The event comes when the last reference to a socket is gone: a fork that inherited the listener
// delays it. shutdown(2) sends none.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "core/endpoint.h"
#include "sys/netlink.h"

namespace sockhop::sys {

struct ListenerEntry {
  core::Endpoint local;
  std::uint64_t cookie = 0;  // SO_COOKIE
  bool multipath = false;    // the TCP socket below an MPTCP one; told by list_listeners() only
};

class ListenerWatch {
 public:
  /// A port set is compiled into the socket's own filter: more than this is an error (E2BIG).
  static constexpr std::size_t kMaxPorts = 240;

  /// Opens in the calling thread's network namespace (CAP_NET_ADMIN over it); usable from any
  /// thread afterwards. Only sockets whose local port is in `ports` (host order) are reported: the
  /// filter runs in the kernel, other closes cost the session nothing.
  static Result<ListenerWatch> open(std::span<const std::uint16_t> ports);
  /// Replaces the port set.
  Status set_ports(std::span<const std::uint16_t> ports);

  /// Readable when drain() has something.
  [[nodiscard]] FdRef fd() const { return events_.fd(); }

  struct Gone {
    /// Sockets of any state that ended: compare cookies with the listeners that are known.
    std::vector<ListenerEntry> sockets;
    /// The kernel dropped events: list the listeners again.
    bool overflow = false;
  };
  Gone drain();

  /// The TCP listeners, both families, whose port is in `ports`. At most 4096.
  Result<std::vector<ListenerEntry>> list_listeners(std::span<const std::uint16_t> ports);

 private:
  ListenerWatch(NetlinkSocket events, NetlinkSocket questions)
      : events_(std::move(events)), questions_(std::move(questions)) {}
  NetlinkSocket events_;
  NetlinkSocket questions_;
};

}  // namespace sockhop::sys
