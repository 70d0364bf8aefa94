// Everything the product can answer to a connect(), with the reason that people are told.
#pragma once

#include <string>
#include <string_view>
#include <variant>

namespace sockhop::core {

/// Why a call stayed, hopped or was denied. Each has one text for `ps` and `explain`.
enum class Reason {
  // the socket
  not_ours,             // not an inet TCP socket, or not a connect we know
  other_namespace,      // the socket belongs to a nested namespace
  came_with_container,  // host socket that was there at registration (socket activation)
  already_used,         // connected, connecting or listening
  bound,                // source port or address chosen by the application
  option_not_carried,   // an option that a host socket could not have
  signal_owner,         // SIGIO owner or F_SETSIG
  shared,               // another process holds it and could not be given the host socket
  too_many_fds,         // the scan for references ran out of its budget
  epoll_unreadable,     // a registration could not be carried
  // the destination
  loopback,
  unspecified,
  multicast,
  local_address,
  on_link,
  no_route,
  refused_route,
  not_the_uplink,
  unknown_uplink,
  outbound_fixed,
  uplink_maps_it,
  filtered,
  several_paths,
  encapsulated,
  host_address,
  host_no_route,
  // policy
  rule,
  switched_off,
  landlock,
  strict,
  over_budget,
  seen_by_route,
  daemon_error,  // stays the last: the texts are counted up to it
};

/// A short sentence part: "the destination is loopback".
std::string_view describe(Reason reason);
/// The stable name for JSON and counters: "loopback".
std::string_view name_of(Reason reason);

/// The call runs in the container's own network namespace.
struct Stay {
  Reason reason;
};
/// A host socket bound to `device` takes the place of the caller's.
struct Hop {
  int device;
  std::string device_name;
  Reason reason;
};
/// An explicit rule forbids it; the caller gets `error` (ECONNREFUSED or EACCES).
struct Deny {
  int error;
  Reason reason;
};

using Verdict = std::variant<Stay, Hop, Deny>;

}  // namespace sockhop::core
