// Which process may speak to the daemon's sockets: one of the same user that lives in no container.
//
// Engines, hooks and runtimes share the user namespace of containers, so that one tells nothing;
// the network, mount and pid namespaces do. A container may share some of them with its runtime
// (--net=host): only those that are its own count.
#pragma once

#include <cstdint>
#include <vector>

namespace sockhop::core {

/// Inode numbers of a process's namespaces.
struct Namespaces {
  std::uint64_t network = 0;
  std::uint64_t mount = 0;
  /// The pid namespace first, then its ancestors. A process can leave its network and mount
  /// namespace by unshare(2), but its pid namespace always descends from the container's.
  std::vector<std::uint64_t> pids;
};

/// The namespaces that a container does not share with the runtime that made it; 0 where it does.
struct ContainerMark {
  std::uint64_t network = 0;
  std::uint64_t mount = 0;
  std::uint64_t pid = 0;
  /// Nothing is known of the container.
  [[nodiscard]] bool empty() const { return network == 0 && mount == 0 && pid == 0; }
};

ContainerMark mark_of(const Namespaces& container, const Namespaces& runtime);

/// Is a process with these namespaces one of the container's?
bool lives_in(const Namespaces& process, const ContainerMark& container);

}  // namespace sockhop::core
