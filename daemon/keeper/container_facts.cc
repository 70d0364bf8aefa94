#include "keeper/container_facts.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "sys/foreign_pid.h"
#include "sys/netns.h"
#include "sys/peer.h"
#include "sys/uplink_finder.h"

namespace sockhop::keeper {

core::ContainerMark mark_of(const core::Namespaces& inside, core::Namespaces runtime, bool begins) {
  if (runtime.pids.empty()) {
    const auto own = sys::namespaces_of(::getpid());
    if (!own) return {};
    runtime.mount = own->mount;
    runtime.pids = begins ? own->pids : inside.pids;
  }
  return core::mark_of(inside, runtime);
}

core::ContainerMark mark_of(pid_t container, const core::Namespaces& runtime) {
  const auto inside = sys::namespaces_of(container);
  if (!inside) return {};
  return mark_of(*inside, runtime, sys::begins_pid_namespace(container));
}

UniqueFd middle_of(UniqueFd of_runtime, std::int64_t container) {
  if (of_runtime) return of_runtime;
  if (container > 0) {
    if (auto own = sys::open_netns_of_process(static_cast<pid_t>(container)))
      return std::move(*own);
  }
  auto host = sys::open_own_netns();
  return host ? std::move(*host) : UniqueFd();
}

std::int64_t container_pid(const Arrival& arrival, bool has_session) {
  if (arrival.state.pid <= 0) return 0;
  std::optional<std::uint64_t> pid_namespace;
  if (!arrival.runtime.pids.empty()) pid_namespace = arrival.runtime.pids.front();
  const auto found = sys::find_foreign_pid(arrival.state.pid, pid_namespace);
  if (found) return *found;
  // The process of an exec may have ended; its session needs no pid.
  if (has_session) return 0;
  spdlog::warn("container {}: {}; it is found by its first call", arrival.state.id,
               to_string(found.error()));
  return 0;
}

std::vector<core::Uplink> uplinks_of(std::uint64_t netns_inode) {
  auto found = sys::UplinkFinder().find(netns_inode);
  return found ? std::move(*found) : std::vector<core::Uplink>();
}

std::vector<core::Uplink> find_uplinks(FdRef middle, std::int64_t container_pid) {
  std::vector<core::Uplink> uplinks;
  auto look = [&uplinks](FdRef ns) {
    const auto inode = sys::namespace_inode(ns);
    if (!inode) return;
    const auto found = uplinks_of(*inode);
    uplinks.insert(uplinks.end(), found.begin(), found.end());
  };
  look(middle);
  if (container_pid > 0) {
    if (auto own = sys::open_netns_of_process(static_cast<pid_t>(container_pid))) look(*own);
  }
  return uplinks;
}

}  // namespace sockhop::keeper
