#include "core/verdict.h"

namespace sockhop::core {

// No default in either switch: the compiler names a reason that lacks its text.

std::string_view describe(Reason reason) {
  switch (reason) {
    case Reason::not_ours:
      return "it is no TCP socket of a kind that hops";
    case Reason::other_namespace:
      return "the socket belongs to a nested network namespace";
    case Reason::came_with_container:
      return "the socket came with the container";
    case Reason::already_used:
      return "the socket is connected, connecting or listening";
    case Reason::bound:
      return "the application chose the source address or port";
    case Reason::option_not_carried:
      return "the socket has an option that a host socket could not have";
    case Reason::signal_owner:
      return "the socket sends signals to an owner";
    case Reason::shared:
      return "another process holds the socket";
    case Reason::too_many_fds:
      return "the search for duplicates took too long";
    case Reason::epoll_unreadable:
      return "a registration in an epoll set could not be carried over";
    case Reason::loopback:
      return "the destination is loopback";
    case Reason::unspecified:
      return "the destination is the unspecified address";
    case Reason::multicast:
      return "the destination is multicast or broadcast";
    case Reason::local_address:
      return "the destination is the container's own address";
    case Reason::on_link:
      return "the destination is a neighbour of the container";
    case Reason::no_route:
      return "the container has no route to the destination";
    case Reason::refused_route:
      return "the container's route refuses the destination";
    case Reason::not_the_uplink:
      return "the route leaves through a device that is not the uplink";
    case Reason::unknown_uplink:
      return "the owner of the tap device is unknown";
    case Reason::outbound_fixed:
      return "the uplink was told its outbound address or interface";
    case Reason::uplink_maps_it:
      return "the uplink gives the destination a meaning of its own";
    case Reason::filtered:
      return "packet filter rules on the way may affect the destination";
    case Reason::several_paths:
      return "the route has several paths";
    case Reason::encapsulated:
      return "the route goes through a tunnel or transformation";
    case Reason::host_address:
      return "the destination is an address of the host";
    case Reason::host_no_route:
      return "the host has no route to the destination";
    case Reason::rule:
      return "an explicit rule says so";
    case Reason::switched_off:
      return "sockhop is switched off for the container";
    case Reason::landlock:
      return "the caller restricted itself by Landlock";
    case Reason::over_budget:
      return "the container used up its time for route questions";
    case Reason::seen_by_route:
      return "the route leaves through the uplink";
    case Reason::daemon_error:
      return "the daemon failed to make or place a host socket";
  }
  return "unknown";
}

std::string_view name_of(Reason reason) {
  switch (reason) {
    case Reason::not_ours:
      return "not_ours";
    case Reason::other_namespace:
      return "other_namespace";
    case Reason::came_with_container:
      return "came_with_container";
    case Reason::already_used:
      return "already_used";
    case Reason::bound:
      return "bound";
    case Reason::option_not_carried:
      return "option_not_carried";
    case Reason::signal_owner:
      return "signal_owner";
    case Reason::shared:
      return "shared";
    case Reason::too_many_fds:
      return "too_many_fds";
    case Reason::epoll_unreadable:
      return "epoll_unreadable";
    case Reason::loopback:
      return "loopback";
    case Reason::unspecified:
      return "unspecified";
    case Reason::multicast:
      return "multicast";
    case Reason::local_address:
      return "local_address";
    case Reason::on_link:
      return "on_link";
    case Reason::no_route:
      return "no_route";
    case Reason::refused_route:
      return "refused_route";
    case Reason::not_the_uplink:
      return "not_the_uplink";
    case Reason::unknown_uplink:
      return "unknown_uplink";
    case Reason::outbound_fixed:
      return "outbound_fixed";
    case Reason::uplink_maps_it:
      return "uplink_maps_it";
    case Reason::filtered:
      return "filtered";
    case Reason::several_paths:
      return "several_paths";
    case Reason::encapsulated:
      return "encapsulated";
    case Reason::host_address:
      return "host_address";
    case Reason::host_no_route:
      return "host_no_route";
    case Reason::rule:
      return "rule";
    case Reason::switched_off:
      return "switched_off";
    case Reason::landlock:
      return "landlock";
    case Reason::over_budget:
      return "over_budget";
    case Reason::seen_by_route:
      return "seen_by_route";
    case Reason::daemon_error:
      return "daemon_error";
  }
  return "unknown";
}

}  // namespace sockhop::core
