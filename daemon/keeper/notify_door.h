// seccomp.sock: where OCI runtimes bring notify fds (runtime-spec, seccomp listener).
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "core/admission.h"
#include "core/oci_state.h"
#include "keeper/acceptor.h"
#include "keeper/watch.h"
#include "sys/peer.h"
#include "sys/scm_rights.h"

namespace sockhop::keeper {

/// What one connection brought.
struct Arrival {
  core::OciState state;
  UniqueFd notify;
  /// The network namespace of the process that connected; empty when the kernel does not show it.
  UniqueFd middle;
  /// Of that process; only `network` is filled in when it had ended.
  core::Namespaces runtime;
};

/// Serves many connections at once: each may bring its state in any split, or nothing for hours
/// (crun connects long before it sends).
class NotifyDoor {
 public:
  struct Events {
    /// May a process with these namespaces bring a notify fd?
    std::function<bool(const core::Namespaces&)> admits;
    std::function<void(Arrival)> on_arrival;
  };

  /// `listener` is a listening stream socket; `max_connections` bounds the silent ones.
  NotifyDoor(boost::asio::io_context& loop, UniqueFd listener, std::size_t max_connections,
             Events events);

 private:
  struct Connection {
    UniqueFd socket;
    UniqueFd middle;
    core::Namespaces runtime;
    pid_t pid = 0;
    core::OciStateReader reader;
    std::vector<UniqueFd> descriptors;
    std::unique_ptr<Watch> watch;
  };

  void take_in(UniqueFd socket);
  Result<Connection> admit(UniqueFd socket) const;
  void read(std::uint64_t number);
  /// True when the connection is done with.
  bool take(Connection& connection, sys::Received received);
  void arrived(Connection& connection, core::OciState state);

  boost::asio::io_context& loop_;
  UniqueFd listener_;
  std::size_t max_connections_;
  Events events_;
  std::map<std::uint64_t, Connection> connections_;
  std::uint64_t last_number_ = 0;
  bool full_ = false;  // said once per time that the door is full
  Acceptor acceptor_;
};

}  // namespace sockhop::keeper
