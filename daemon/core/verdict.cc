#include "core/verdict.h"

#include <cstddef>
#include <iterator>

namespace sockhop::core {
namespace {

struct Row {
  Reason reason;
  std::string_view name;
  std::string_view text;
};

constexpr Row kRows[] = {
    {Reason::not_ours, "not_ours", "it is no socket of a kind that hops"},
    {Reason::other_namespace, "other_namespace",
     "the socket belongs to a nested network namespace"},
    {Reason::came_with_container, "came_with_container", "the socket came with the container"},
    {Reason::already_used, "already_used", "the socket is connected, connecting or listening"},
    {Reason::bound, "bound", "the application chose the source address or port"},
    {Reason::option_not_carried, "option_not_carried",
     "the socket has an option that a host socket could not have"},
    {Reason::signal_owner, "signal_owner", "the socket sends signals to an owner"},
    {Reason::shared, "shared", "another process holds the socket"},
    {Reason::too_many_fds, "too_many_fds", "the search for duplicates took too long"},
    {Reason::epoll_unreadable, "epoll_unreadable",
     "a registration in an epoll set could not be carried over"},
    {Reason::loopback, "loopback", "the destination is loopback"},
    {Reason::unspecified, "unspecified", "the destination is the unspecified address"},
    {Reason::multicast, "multicast", "the destination is multicast or broadcast"},
    {Reason::local_address, "local_address", "the destination is the container's own address"},
    {Reason::on_link, "on_link", "the destination is a neighbour of the container"},
    {Reason::no_route, "no_route", "the container has no route to the destination"},
    {Reason::refused_route, "refused_route", "the container's route refuses the destination"},
    {Reason::not_the_uplink, "not_the_uplink",
     "the route leaves through a device that is not the uplink"},
    {Reason::unknown_uplink, "unknown_uplink", "the owner of the tap device is unknown"},
    {Reason::outbound_fixed, "outbound_fixed",
     "the uplink was told its outbound address or interface"},
    {Reason::uplink_maps_it, "uplink_maps_it",
     "the uplink gives the destination a meaning of its own"},
    {Reason::filtered, "filtered", "packet filter rules on the way may affect the destination"},
    {Reason::several_paths, "several_paths", "the route has several paths"},
    {Reason::encapsulated, "encapsulated", "the route goes through a tunnel or transformation"},
    {Reason::host_address, "host_address", "the destination is an address of the host"},
    {Reason::host_no_route, "host_no_route", "the host has no route to the destination"},
    {Reason::rule, "rule", "an explicit rule says so"},
    {Reason::switched_off, "switched_off", "sockhop is switched off for the container"},
    {Reason::landlock, "landlock",
     "the caller, or whom it descends from, restricted itself by Landlock"},
    {Reason::strict, "strict",
     "by policy nothing is handed over unconnected, and the caller does not wait"},
    {Reason::over_budget, "over_budget", "the container used up its time for route questions"},
    {Reason::seen_by_route, "seen_by_route", "the route leaves through the uplink"},
    {Reason::daemon_error, "daemon_error", "the daemon failed to make or place a host socket"},
};

constexpr bool each_reason_has_its_row() {
  std::size_t index = 0;
  for (const Row& row : kRows) {
    if (row.reason != static_cast<Reason>(index++)) return false;
  }
  return index == static_cast<std::size_t>(Reason::daemon_error) + 1;
}
static_assert(each_reason_has_its_row(), "one row per reason, in the order of verdict.h");

}  // namespace

std::string_view describe(Reason reason) {
  const auto index = static_cast<std::size_t>(reason);
  return index < std::size(kRows) ? kRows[index].text : "unknown";
}

std::string_view name_of(Reason reason) {
  const auto index = static_cast<std::size_t>(reason);
  return index < std::size(kRows) ? kRows[index].name : "unknown";
}

}  // namespace sockhop::core
