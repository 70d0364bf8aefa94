// Every reference to a hopped socket hops, or the socket stays.
//
// Before a hop: which epoll sets watch the socket. After it: was the caller's descriptor the last
// reference; if not, which others are there, and do they hop too.
#pragma once

#include <vector>

#include "engine/call.h"
#include "engine/process_table.h"
#include "sys/epoll_set.h"

namespace sockhop::engine {

class References {
 public:
  References(ProcessTable& processes, sys::RegistrationThread& registrations,
             sys::LastReference last)
      : processes_(processes), registrations_(registrations), last_(std::move(last)) {}

  /// Writes into the slot what watches `file` under the caller's `number`. Error: some registration
  /// cannot be read or carried; the socket must stay.
  Status note_registrations(ActiveCall& call, FdRef file, std::int32_t number);

  /// Writes into the slot which other numbers of the caller are `file`, with their registrations.
  /// At most sys::kMaxCarried; false: there are more, or they cannot be found.
  bool note_duplicates(ActiveCall& call, FdRef file);

  /// To be called before the host socket is installed.
  Status watch_last(FdRef original) { return last_.watch(original); }

  /// Registrations alone: all that can be done once the caller is gone.
  void follow(ActiveCall& call);

  /// The install did not happen: the watched file stays where it is.
  void forget_last();

  enum class Settled {
    all_hop,  // every reference that can be found is the host socket now
    shared,   // another holder cannot be given it; slot.original_fd is open again
  };
  /// After the install: closes slot.original_fd, looks for other references and moves them and all
  /// registrations to the host socket slot.host_fd. Without an original_fd (a dead engine closed
  /// it) every process is looked at.
  Settled settle(ActiveCall& call);

  /// Puts `socket` over every number of the caller that the slot names, with its registrations.
  /// `expected`: cookie of the socket that must still be there, if not `socket` already. False: the
  /// caller's descriptor is another file by now.
  bool replace(ActiveCall& call, FdRef socket, std::uint64_t expected);

 private:
  /// Of the sets that are known; true when one of them is none any more.
  Result<bool> note_known(ActiveCall& call, FdRef file, std::int32_t number);
  bool move_duplicates(ActiveCall& call, std::uint64_t inode);
  bool fetch_from_other_process(ActiveCall& call, std::uint64_t inode);
  /// Registers `to` where the slot says, in place of `from` (none when its number is negative).
  void carry(ActiveCall& call, FdRef from, FdRef to, std::uint32_t first = 0);

  ProcessTable& processes_;
  sys::RegistrationThread& registrations_;
  sys::LastReference last_;
};

}  // namespace sockhop::engine
