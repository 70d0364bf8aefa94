// One walk from the container to the host for one destination: asks, and lets core decide each
// step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/path.h"

namespace sockhop::engine {

class PathWalk {
 public:
  /// `rules`: of the container, then of each middle namespace.
  PathWalk(PathPlaces& places, const std::vector<core::Uplink>& uplinks,
           const std::vector<core::NamespaceRules>& rules)
      : places_(places), uplinks_(uplinks), rules_(rules) {}

  /// Once per object.
  Path run(const core::Endpoint& destination);
  /// The host's own answer only, for an explicit hop rule.
  Path ask_host(const core::Address& destination);

  [[nodiscard]] std::optional<core::Address> container_source() const { return source_; }
  /// What each place said, and what came of it.
  [[nodiscard]] const std::vector<PathStep>& steps() const { return steps_; }

 private:
  PathPlace& place_at(std::size_t depth);
  Result<core::NamespaceAnswer> ask(std::size_t depth, const core::Address& destination);
  Result<core::DeviceFacts> device_with_peer(std::size_t depth, int index);
  Status add_uplink(std::size_t depth, const core::Address& destination,
                    core::NamespaceAnswer& answer);
  /// The device that a namespace's packets come in by: the veth's end, or the bridge it belongs to.
  std::optional<core::CrossedDevice> entrance(std::size_t depth, const core::DeviceFacts& peer);
  std::optional<core::Objection> objection(std::size_t depth, const core::Endpoint& destination,
                                           const core::NamespaceAnswer& answer) const;
  Path stop(const std::string& where, core::Reason reason);
  Path fail(const std::string& where, const Error& error);

  PathPlaces& places_;
  const std::vector<core::Uplink>& uplinks_;
  const std::vector<core::NamespaceRules>& rules_;
  std::optional<core::Address> source_;
  std::optional<core::CrossedDevice> came_by_;   // into the namespace that is asked
  std::optional<core::CrossedDevice> entrance_;  // into the one behind it
  std::vector<PathStep> steps_;
};

}  // namespace sockhop::engine
