#include "hook/prepare.h"

#include <optional>
#include <utility>

#include "core/container_wishes.h"
#include "core/oci_state.h"
#include "hook/publication.h"
#include "hook/rules.h"
#include "sys/clock.h"
#include "sys/text_file.h"

namespace sockhop::hook {
namespace {

using std::chrono::milliseconds;

/// What remains of the time that sockhopd has.
class Patience {
 public:
  explicit Patience(milliseconds whole)
      : end_(sys::monotonic_ns() + std::chrono::nanoseconds(whole).count()) {}
  [[nodiscard]] milliseconds left() const {
    const auto left = (end_ - sys::monotonic_ns()) / 1'000'000;
    return milliseconds(left > 1 ? left : 1);
  }

 private:
  std::int64_t end_;
};

/// Nothing where the engine is not Docker.
std::string docker_state(const std::string& config, const std::string& container) {
  const auto path = core::docker_state_file(config, container);
  if (path.empty()) return {};
  const auto text = sys::read_text_file(path);
  return text ? *text : std::string();
}

std::string config_path(const core::RuntimeCommand& command) {
  if (command.config_file.starts_with('/')) return command.config_file;
  return command.bundle + "/" + command.config_file;
}

Preparation change(const core::RuntimeCommand& command, const core::RuntimeConfig& settings,
                   const std::string& runtime, const core::ContainerWishes& wishes,
                   const std::string& config) {
  const Patience patience(settings.patience);
  const auto dir = sys::find_engines_runtime_dir();
  if (!dir) return {Outcome::plain, to_string(dir.error())};
  if (auto reason = why_not(*dir, patience.left())) return {Outcome::plain, *reason};
  const auto changed = with_rules(config, settings, *dir, runtime);
  if (!changed) return {Outcome::plain, to_string(changed.error())};
  if (!wishes.ports.empty() || !wishes.rules.empty()) {
    auto published = publish(*dir, command.container, wishes, patience.left());
    if (published.outcome != Outcome::accelerated) return published;
  }
  if (auto written = sys::replace_text_file(config_path(command), *changed); !written) {
    forget(command.container);
    return {Outcome::plain, to_string(written.error())};
  }
  return {Outcome::accelerated, {}};
}

}  // namespace

Preparation prepare(const core::RuntimeCommand& command, const core::RuntimeConfig& settings,
                    const std::string& runtime) {
  // What is wrong with these two the runtime tells better.
  if (!core::check_container_id(command.container)) return {};
  const auto config = sys::read_text_file(config_path(command));
  if (!config) return {};
  const auto wishes = core::read_wishes(*config, docker_state(*config, command.container));
  if (!wishes) return {Outcome::refused, to_string(wishes.error())};
  if (!wishes->accelerate) return {};
  auto done = change(command, settings, runtime, *wishes, *config);
  if (done.outcome == Outcome::plain && wishes->required.value_or(settings.required)) {
    done.outcome = Outcome::refused;
  }
  return done;
}

}  // namespace sockhop::hook
