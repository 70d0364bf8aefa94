// A network namespace that nothing is connected to: its loopback carries the addresses that the two
// ends of a relayed connection are to show.
#pragma once

#include <memory>
#include <set>

#include "base/result.h"
#include "base/unique_fd.h"
#include "core/endpoint.h"
#include "sys/worker_thread.h"

namespace sockhop::sys {

/// A connected pair of one family.
struct SocketPair {
  UniqueFd accepted;   // its peer name is the gateway's, its own name the container's
  UniqueFd connected;  // the other end, non-blocking
};

class ScratchNetns {
 public:
  /// Makes the namespace in the caller's user namespace (CAP_SYS_ADMIN over that).
  static Result<std::unique_ptr<ScratchNetns>> make();

  /// `peer`: address only, its port is chosen. `own`: address and port. Both of one family.
  Result<SocketPair> make_pair(const core::Address& peer, const core::Endpoint& own, int family);

 private:
  ScratchNetns() = default;
  Status add_address(const core::Address& address);
  Result<SocketPair> connect_pair(const core::Address& peer, const core::Endpoint& own, int family);

  std::unique_ptr<WorkerThread> worker_;
  std::set<core::Address> addresses_;
};

}  // namespace sockhop::sys
