// Makes a connection of the host harmless before the container gets it: a leash, or a relay.
#pragma once

#include <memory>
#include <optional>

#include "engine/connect_flow.h"
#include "engine/listener_ports.h"
#include "engine/relay.h"
#include "sys/route_view.h"
#include "sys/scratch_netns.h"

namespace sockhop::engine {

class Accepted {
 public:
  static Result<std::unique_ptr<Accepted>> open(Shared& shared, sys::WorkerThread& container);

  /// slot.host_fd, accepted on `port`, becomes a socket that may be handed over, slot.destination
  /// the peer that it shows. Once more for the same slot does nothing more. `copy`: the listener,
  /// for the options of a relayed connection.
  Status make_harmless(const Listener& listener, const HostPort& port, sys::CallSlot& slot,
                       FdRef copy);

  Relay& relay() { return *relay_; }

 private:
  struct Names {
    core::Address gateway;
    core::Address own;
  };
  Accepted(Shared& shared, sys::WorkerThread& container, sys::ListenerOptions options)
      : shared_(shared), container_(container), options_(std::move(options)) {}
  /// The device that the connection may be bound to; nothing when it must be relayed.
  std::optional<int> leash_of(const HostPort& port, const sys::CallSlot& slot);
  Status relay(const Listener& listener, sys::CallSlot& slot, FdRef copy);
  /// What the container would see of a connection that its uplink forwards.
  const Names& names(bool v4);

  Shared& shared_;
  sys::WorkerThread& container_;
  sys::ListenerOptions options_;
  std::unique_ptr<Relay> relay_;
  std::unique_ptr<sys::ScratchNetns> scratch_;  // made when first needed
  std::optional<Names> v4_;
  std::optional<Names> v6_;
};

}  // namespace sockhop::engine
