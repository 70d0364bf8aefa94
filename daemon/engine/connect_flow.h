// connect(): from the caller's address to a connection on the host, or a reason to stay.
//
// The life of one hop, stage by stage (sys::CallStage; each stage is written when its comment there
// is true, so that the next engine can go on from it):
//
//   begin    decode, facts, copy the address, decide
//   prepare  host socket with options and leash; registrations noted        -> prepared
//   install  over the caller's descriptor, if that is still the same file   -> installed
//   settle   other references and registrations follow                      -> connecting
//   start    connect; a blocking caller waits                               -> waiting
//   conclude take the result; a failure gives the container a socket of its own again (restore)
//
// By policy strict nothing is handed over that is not connected: then the host socket connects
// first (reaching), and goes through the same stages once it has (connect_first.cc).
//
// A socket in progress sits on the caller's descriptor and nowhere else: when the application
// closes it, the attempt is gone, as on a plain host.
#pragma once

#include <variant>

#include "core/policy.h"
#include "engine/call.h"
#include "engine/path.h"
#include "engine/references.h"
#include "engine/sockets.h"
#include "sys/epoll_set.h"
#include "sys/host_socket.h"
#include "sys/socket_query.h"

namespace sockhop::engine {

/// What the flows of one session share; owned by the session.
struct Shared {
  sys::SessionMemory& memory;
  sys::NetnsCookies cookies;
  core::Policy policy;
  PathFinder& paths;
  SocketMaker& sockets;
  References& references;
  sys::WaitSet& waits;
  std::string container;  // its id, for log lines
  /// Few call slots are left: calls that would wait for the network are left to the kernel.
  bool crowded = false;
};

class ConnectFlow {
 public:
  explicit ConnectFlow(Shared& shared) : shared_(shared) {}

  /// A new connect call.
  Outcome begin(ActiveCall& call, const core::ConnectCall& asked);
  /// The connection that a blocking caller waits for may have an end.
  Outcome woken(ActiveCall& call);
  /// The same, without an event: a deadline or a closed descriptor may have come.
  Outcome looked_after(ActiveCall& call);
  /// A call that an engine left behind; any stage of the list above but idle.
  Outcome resume(ActiveCall& call);
  /// A call that an engine left behind, whose caller was interrupted: the call that the kernel
  /// restarts must find a socket with all that the application gave it.
  void abandon(ActiveCall& call);
  /// The verdict alone, as a connect of such a socket would get it.
  core::Verdict decide_for(const core::Endpoint& destination, const core::SocketFacts& facts);
  /// A host socket is about to be used for something that only a socket of the container may do:
  /// puts one in its place. False: the descriptor is another file by now.
  bool put_inside(ActiveCall& call, std::int32_t number, FdRef host, int family);

 private:
  struct Target {
    core::Endpoint destination;
    core::SocketFacts facts;
    std::int32_t fd;
  };
  Outcome choose(ActiveCall& call, const Target& target, UniqueFd copy);
  Outcome hop(ActiveCall& call, const Target& target, const core::Hop& verdict, UniqueFd copy);
  Outcome place(ActiveCall& call, const Target& target, UniqueFd copy);
  Outcome reach(ActiveCall& call, const Target& target, UniqueFd copy);
  Outcome reached(ActiveCall& call, const sys::ConnectOutcome& outcome);
  Outcome look_at_way(ActiveCall& call);
  Outcome leave_inside(ActiveCall& call, Outcome outcome);
  Outcome give_up_way(ActiveCall& call, Outcome outcome);
  std::optional<Outcome> take_over_way(ActiveCall& call, const Target& target);
  Outcome again(ActiveCall& call, const Target& target, UniqueFd host);
  Outcome again_udp(ActiveCall& call, const Target& target, UniqueFd host);
  Outcome anew(ActiveCall& call, const Target& target, UniqueFd host);
  Outcome disconnect(ActiveCall& call, const Target& target, FdRef host);
  void begin_inside(ActiveCall& call);
  Outcome install(ActiveCall& call);
  Outcome settle(ActiveCall& call);
  Outcome start(ActiveCall& call);
  Outcome wait(ActiveCall& call, FdRef host);
  static Outcome ended_by_another(FdRef host);
  Outcome conclude(ActiveCall& call, FdRef host);
  Outcome start_over(ActiveCall& call);
  Outcome resume_installed(ActiveCall& call);
  Outcome resume_restoring(ActiveCall& call);
  Outcome restore(ActiveCall& call, FdRef host, int error);
  core::Verdict decide(const ActiveCall& call, const Target& target);
  void close_fds(sys::CallSlot& slot);

  Shared& shared_;
};

}  // namespace sockhop::engine
