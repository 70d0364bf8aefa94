// Follows a destination from the container's namespace outwards: container, middle namespaces,
// host.
//
// Answers are cached by destination (with its port only where rules on the way may look at it) and
// valid only while no namespace on the way reports a change; all watches are drained before every
// use. Rule sets are read again once a second beside that, because legacy iptables tables send no
// events. Uncached work has a budget of CPU time: a
// container that changes its routes all the time slows itself only.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "core/endpoint.h"
#include "core/filtering.h"
#include "core/route_answer.h"
#include "core/verdict.h"
#include "sys/cpu_clock.h"
#include "sys/namespace_views.h"

namespace sockhop::engine {

/// One network namespace of the way.
struct PathPlace {
  std::string name;  // "container", "middle", "host": for explain
  std::uint64_t netns_inode = 0;
  std::unique_ptr<sys::NamespaceQuestions> questions;
};

/// From the container outwards; the host last. A container whose own namespace holds the uplink has
/// no middle.
struct PathPlaces {
  PathPlace container;
  std::vector<PathPlace> middle;
  PathPlace host;
};

/// What was found in one place, for `explain`.
struct PathStep {
  std::string where;
  std::string what;
};

using Path = std::variant<core::Reason, core::HostPath>;

class PathFinder {
 public:
  /// An uplink with netns_inode 0 counts in every namespace (a device named by option).
  PathFinder(PathPlaces places, std::vector<core::Uplink> uplinks,
             std::unique_ptr<sys::CpuClock> clock);
  ~PathFinder();

  /// The host device that carries the destination, or why it stays.
  Path find(const core::Endpoint& destination);

  /// Rules are run for TCP: may find()'s last answer be taken for another protocol too?
  [[nodiscard]] bool holds_for_every_protocol() const { return !port_matters_; }

  /// The host's own answer alone, for a destination that an explicit hop rule names.
  Path find_on_host(const core::Address& destination);

  /// The device of the host that has `own`, an address of the host itself: a socket that is bound
  /// to it reaches the address, and no other loopback (ip_route_output_key_hash_rcu, Linux 6.18).
  std::optional<core::HostPath> way_to_own(const core::Address& own);

  /// The source address that the container's own route to `destination` prefers (getsockname of a
  /// hopped socket); nothing when it has no route.
  std::optional<core::Address> container_source(const core::Address& destination);

  /// Asks anew, without cache or budget, and tells what each namespace said.
  std::vector<PathStep> explain(const core::Endpoint& destination);

  /// The keeper found other uplinks.
  void set_uplinks(std::vector<core::Uplink> uplinks);

  /// After EHOSTUNREACH on a leashed socket: the host's route is asked again at the next use.
  void forget(const core::Address& destination);

 private:
  struct Answer {
    Path path;
    std::optional<core::Address> container_source;
  };
  struct EndpointHash {
    std::size_t operator()(const core::Endpoint& endpoint) const;
  };

  using Cache = std::unordered_map<core::Endpoint, Answer, EndpointHash>;
  using Ask = Answer (PathFinder::*)(const core::Endpoint&);

  Answer remember(Cache& cache, const core::Endpoint& destination, Ask ask);
  Answer walk(const core::Endpoint& destination);
  Answer walk_host(const core::Endpoint& destination);
  [[nodiscard]] core::Endpoint key_of(const core::Endpoint& destination) const;
  void clear();
  void drop_stale();
  void reread_rules();
  bool within_budget();

  static constexpr std::size_t kMaxCached = 256;

  PathPlaces places_;
  std::vector<core::Uplink> uplinks_;
  std::unique_ptr<sys::CpuClock> clock_;
  Cache cache_;
  Cache host_cache_;
  /// Of the container, then of each middle namespace.
  std::vector<core::NamespaceRules> rules_;
  std::optional<std::chrono::nanoseconds> rules_read_at_;
  bool port_matters_ = false;  // some rule may look at it
  std::chrono::nanoseconds window_start_{0};
  std::chrono::nanoseconds window_spent_{0};
};

}  // namespace sockhop::engine
