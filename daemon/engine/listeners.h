// Published ports: host connections come out of the container's own accept().
//
// Host connections wait in the kernel's queue of the host listener, bound when the container was
// registered and listening as long as a listener of the container does. When one waits and nobody
// waits for it, the bell rings (engine/bell.h). An accept is answered in three steps, in stages:
//
//   taking      a connection is taken: the host's, or one of the container's own queue
//   delivering  it is harmless (engine/accepted.h), its cookie known; the peer's name is written,
//   the
//               socket installed, the call answered with the number
//   accepting   nothing there: a blocking caller waits
//
// Nothing here holds a copy of the container's listener: closed by the application, it is gone.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/call.h"
#include "core/port_table.h"
#include "engine/accepted.h"
#include "engine/listener_ports.h"
#include "sys/listener_watch.h"

namespace sockhop::engine {

class Listeners {
 public:
  /// `container`: a worker inside the container's namespace; it outlives this.
  static Result<std::unique_ptr<Listeners>> open(Shared& shared, sys::WorkerThread& container);

  /// Endpoints of the ports are kept (sys::Kept::endpoint, endpoint_key). Any number of times.
  Status set_ports(const std::vector<core::PublishedPort>& ports);
  /// Do the endpoints listen for the listeners that are there? The error is that of a port which
  /// does not, ports of `besides` left out.
  [[nodiscard]] Status check_served(const std::vector<core::PublishedPort>& besides) const;
  /// Serves the listeners that are there already.
  void start();
  /// A listener is there that the host refuses clients for: retry() is to be called now and then.
  [[nodiscard]] bool has_problem() const;
  void retry();

  /// Is any port published?
  [[nodiscard]] bool any() const { return !ports_->all().empty(); }
  /// `copy`: the caller's socket, of the container and TCP.
  Outcome on_listen(ActiveCall& call, const core::ListenCall& asked, UniqueFd copy,
                    const core::SocketFacts& facts);
  Outcome on_accept(ActiveCall& call, const core::AcceptCall& asked, UniqueFd copy,
                    const core::SocketFacts& facts);
  /// A call that an engine left in stage accepting, taking or delivering; its caller may be gone.
  Outcome resume(ActiveCall& call);
  /// The same, when the caller cannot even be looked at any more.
  void abandon(sys::CallSlot& slot);
  /// A blocked accept may go on, or its time is over.
  Outcome woken(ActiveCall& call);
  /// The same, without an event: cheap as long as there is nothing to do.
  Outcome looked_after(ActiveCall& call);

  /// Readable when take_events() has work.
  [[nodiscard]] FdRef events() const { return edges_.fd(); }
  /// `wake` is called, and acts at once, for slots in stage accepting that may go on.
  void take_events(const std::function<void(std::uint64_t slot)>& wake);

  struct State {
    bool listening = false;
    int problem = 0;  // errno: a listener is there, but the host cannot listen
    std::uint64_t injected = 0;
    std::uint64_t relayed = 0;
  };
  [[nodiscard]] State state_of(const core::PublishedPort& port) const;

 private:
  using Wake = std::function<void(std::uint64_t slot)>;

  Listeners(Shared& shared, sys::WorkerThread& container, sys::EdgeSet edges)
      : shared_(shared),
        container_(container),
        edges_(std::move(edges)),
        table_(shared.memory, container) {}
  Status watch_ends();
  Listener* known(const core::SocketFacts& facts, FdRef copy);

  Outcome proceed(ActiveCall& call, Listener& listener, FdRef copy);
  /// The next connection into slot.host_fd; EAGAIN when there is none.
  Status take(ActiveCall& call, Listener& listener, FdRef copy);
  Status take_inside(sys::CallSlot& slot, Listener& listener, FdRef copy);
  /// Takes the rings out when nothing else waits, so that a loop is not woken for nothing.
  void quieten(sys::CallSlot& slot, Listener& listener, FdRef copy);
  Outcome deliver(ActiveCall& call);
  /// The caller cannot have slot.host_fd: the next one gets it.
  Outcome put_off(ActiveCall& call, Outcome outcome);
  void keep_for_next(sys::CallSlot& slot);
  /// Goes on with a connection that a dead engine took; false: it was a ring, or nobody's.
  bool make_known(sys::CallSlot& slot);
  std::optional<Return> find_told(ActiveCall& call, std::uint64_t cookie);
  Outcome resume_delivering(ActiveCall& call);
  Outcome resume_taking(ActiveCall& call);

  void on_port(std::uint32_t row, const Wake& wake);
  void on_listener(std::uint64_t cookie, std::uint32_t events, const Wake& wake);
  void on_ends();
  /// Wakes callers in turn as long as they find something.
  bool wake_waiting(const std::function<bool(const Listener&)>& which, const Wake& wake);
  void ring(const HostPort& port);
  void list_again();
  void tell_problems();

  Shared& shared_;
  sys::WorkerThread& container_;
  sys::EdgeSet edges_;
  ListenerTable table_;
  std::unique_ptr<ListenerPorts> ports_;
  std::unique_ptr<Accepted> accepted_;
  std::optional<sys::ListenerWatch> watch_;
  int not_listed_ = 0;  // errno of the last listing
  std::int64_t retried_at_ = 0;
};

}  // namespace sockhop::engine
