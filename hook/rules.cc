#include "hook/rules.h"

#include <cerrno>
#include <utility>

#include "core/config.h"
#include "core/engine_profile.h"
#include "core/profile.h"
#include "hook/default_profile.h"
#include "sys/daemon_probe.h"
#include "sys/kernel_probe.h"
#include "sys/run_program.h"
#include "sys/runtime_dir.h"
#include "sys/text_file.h"

namespace sockhop::hook {
namespace {

constexpr std::chrono::milliseconds kVersionPatience{1000};

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

// The daemon's sockhop.toml may say `without = ["wait-killable"]`.
bool is_allowed(std::string_view feature) {
  const auto text = sys::read_text_file(sys::default_config_path());
  if (!text) return true;
  const auto config = core::parse_config(*text);
  return !config || config->allows(feature);
}

bool sets_wait_killable(const std::string& runtime) {
  if (!sys::knows_wait_killable() || !is_allowed("wait-killable")) return false;
  const auto release = sys::kernel_release();
  const auto told = sys::run_program({runtime, "--version"}, kVersionPatience);
  return told && core::runtime_sets_wait_killable(told->output, release);
}

}  // namespace

std::optional<std::string> why_not(const sys::RuntimeDir& dir, std::chrono::milliseconds patience) {
  const auto there = sys::probe_daemon(dir, patience);
  if (there) return std::nullopt;
  return remedy_for(there.error(), dir);
}

Result<std::string> with_rules(std::string config, const core::RuntimeConfig& settings,
                               const sys::RuntimeDir& dir, const std::string& runtime) {
  const auto has_one = core::has_profile(config);
  if (!has_one) return has_one.error();
  if (!*has_one) {
    auto filled = put_default_profile(config, settings.default_profile);
    if (!filled) return filled;
    config = std::move(*filled);
  }
  core::ProfileOptions options;
  options.listener_path = dir.seccomp_socket();
  options.wait_killable = !runtime.empty() && sets_wait_killable(runtime);
  options.refuse_io_uring = !settings.allow_io_uring;
  return core::apply_profile(config, options);
}

}  // namespace sockhop::hook
