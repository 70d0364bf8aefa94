#include "hook/prepare.h"

#include <optional>
#include <utility>

#include "core/container_wishes.h"
#include "core/engine_profile.h"
#include "core/oci_state.h"
#include "core/profile.h"
#include "hook/default_profile.h"
#include "hook/publication.h"
#include "sys/clock.h"
#include "sys/daemon_probe.h"
#include "sys/kernel_probe.h"
#include "sys/run_program.h"
#include "sys/text_file.h"

namespace sockhop::hook {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kVersionPatience{1000};

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

std::string remedy_for(const Error& error, const sys::RuntimeDir& dir) {
  switch (error.code) {
    case ENOENT:
    case ECONNREFUSED:
      return "sockhopd does not run (nobody listens at " + dir.control_socket() +
             "); start it: systemctl --user start sockhopd, or: sockhopd &";
    case EACCES:
      return dir.path +
             " is not accessible; run sockhopd as the user of the containers, and see that the "
             "directory belongs to that user with mode 700";
    case ETIMEDOUT:
      return "sockhopd does not answer at " + dir.control_socket() +
             "; look at its log and restart it (running containers go on)";
    case ECONNRESET:
      return "sockhopd at " + dir.control_socket() +
             " refuses this process: it serves another user, or the runtime runs inside a "
             "container of its own";
    default:
      return to_string(error);
  }
}

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

bool sets_wait_killable(const std::string& runtime) {
  const auto release = sys::kernel_release();
  const auto told = sys::run_program({runtime, "--version"}, kVersionPatience);
  return told && core::runtime_sets_wait_killable(told->output, release);
}

Result<std::string> with_rules(std::string config, const core::RuntimeConfig& settings,
                               const std::string& listener, const std::string& runtime) {
  const auto has_one = core::has_profile(config);
  if (!has_one) return has_one.error();
  if (!*has_one) {
    auto filled = put_default_profile(config, settings.default_profile);
    if (!filled) return filled;
    config = std::move(*filled);
  }
  core::ProfileOptions options;
  options.listener_path = listener;
  options.wait_killable = sets_wait_killable(runtime);
  options.refuse_io_uring = !settings.allow_io_uring;
  return core::apply_profile(config, options);
}

Preparation change(const core::RuntimeCommand& command, const core::RuntimeConfig& settings,
                   const std::string& runtime, const core::ContainerWishes& wishes,
                   const std::string& config) {
  const Patience patience(settings.patience);
  const auto dir = sys::find_runtime_dir();
  if (!dir) return {Outcome::plain, to_string(dir.error())};
  if (const auto there = sys::probe_daemon(*dir, patience.left()); !there) {
    return {Outcome::plain, remedy_for(there.error(), *dir)};
  }
  const auto changed = with_rules(config, settings, dir->seccomp_socket(), runtime);
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
