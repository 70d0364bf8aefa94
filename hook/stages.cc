#include "hook/stages.h"

#include <utility>

#include "core/container_wishes.h"
#include "core/engine_profile.h"
#include "core/hook_state.h"
#include "hook/publication.h"
#include "hook/rules.h"
#include "sys/text_file.h"

namespace sockhop::hook {
namespace {

Preparation plain(const core::ContainerWishes& wishes, const core::RuntimeConfig& settings,
                  std::string why) {
  const bool required = wishes.required.value_or(settings.required);
  return {required ? Outcome::refused : Outcome::plain, std::move(why)};
}

Preparation publish_for(const std::string& container, const std::string& config,
                        const core::RuntimeConfig& settings, const core::ContainerWishes& wishes) {
  const auto dir = sys::find_engines_runtime_dir();
  if (!dir) return plain(wishes, settings, to_string(dir.error()));
  if (auto reason = why_not(*dir, settings.patience)) return plain(wishes, settings, *reason);
  const auto listener = core::listener_of(config);
  if (!listener) return {Outcome::refused, to_string(listener.error())};
  if (*listener != dir->seccomp_socket()) {
    return plain(
        wishes, settings,
        "its seccomp profile has no rules of sockhop; add them by the precreate hook or by "
        "sockhop profile apply");
  }
  if (wishes.ports.empty() && wishes.rules.empty()) return {};
  auto told = publish(*dir, container, wishes, settings.patience);
  return told.outcome == Outcome::plain ? plain(wishes, settings, told.message) : told;
}

}  // namespace

Precreated precreate(const std::string& config, const core::RuntimeConfig& settings) {
  const auto readable = core::has_profile(config);
  if (!readable) return {{Outcome::refused, to_string(readable.error())}, {}};
  const auto wishes = core::read_wishes(config);
  if (!wishes) return {{Outcome::plain, to_string(wishes.error())}, config};
  if (!wishes->accelerate) return {{}, config};
  const auto dir = sys::find_engines_runtime_dir();
  if (!dir) return {{Outcome::plain, to_string(dir.error())}, config};
  if (auto reason = why_not(*dir, settings.patience)) return {{Outcome::plain, *reason}, config};
  auto changed = with_rules(config, settings, *dir, "");
  if (!changed) return {{Outcome::plain, to_string(changed.error())}, config};
  return {{Outcome::accelerated, {}}, std::move(*changed)};
}

Preparation create_runtime(const std::string& text, const core::RuntimeConfig& settings) {
  const auto state = core::parse_hook_state(text);
  if (!state) return {Outcome::refused, to_string(state.error())};
  const auto config = sys::read_text_file(state->bundle + "/config.json");
  if (!config) return {Outcome::refused, to_string(config.error())};
  const auto wishes = core::read_wishes(*config);
  if (!wishes) return {Outcome::refused, to_string(wishes.error())};
  const bool required = wishes->required.value_or(settings.required);
  const bool asks = required || !wishes->ports.empty() || !wishes->rules.empty();
  if (!wishes->accelerate || !asks) return {};
  return publish_for(state->id, *config, settings, *wishes);
}

void poststop(const std::string& text) {
  if (const auto state = core::parse_hook_state(text)) forget(state->id);
}

}  // namespace sockhop::hook
