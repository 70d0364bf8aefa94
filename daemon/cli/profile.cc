#include "core/profile.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>

#include "cli/commands.h"
#include "core/config.h"
#include "core/runtime_config.h"
#include "sys/kernel_probe.h"
#include "sys/run_program.h"
#include "sys/runtime_dir.h"
#include "sys/text_file.h"

namespace sockhop::cli {
namespace {

constexpr std::chrono::milliseconds kVersionPatience{2000};

ExitStatus refuse(const Error& error) {
  std::fprintf(stderr, "sockhop: %s\n", to_string(error).c_str());
  return kRefused;
}

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) return errno_error("write", path);
  return {};
}

Result<std::string> listener_of(const ProfileOptions& options) {
  if (!options.listener.empty()) return options.listener;
  const auto dir = sys::find_runtime_dir();
  if (!dir) return dir.error();
  return dir->seccomp_socket();
}

// The user's sockhop.toml may say `without = ["wait-killable"]`.
Result<bool> is_allowed() {
  const std::string path = sys::default_config_path();
  const auto text = sys::read_text_file(path);
  if (!text) return true;  // there is none
  const auto config = core::parse_config(*text);
  if (!config) return Error{EINVAL, "config", path + ": " + config.error().detail};
  return config->allows("wait-killable");
}

Result<bool> sets_wait_killable(const ProfileOptions& options) {
  if (options.wait_killable) return true;
  if (options.runtime.empty() || options.without_wait_killable) return false;
  const auto allowed = is_allowed();
  if (!allowed || !*allowed) return allowed;
  const auto runtime = sys::find_other_program(options.runtime);
  if (!runtime) return runtime.error();
  const auto told = sys::run_program({*runtime, "--version"}, kVersionPatience);
  if (!told) return told.error();
  return sys::knows_wait_killable() &&
         core::runtime_sets_wait_killable(told->output, sys::kernel_release());
}

}  // namespace

ExitStatus apply_profile(const ProfileOptions& options) {
  auto listener = listener_of(options);
  if (!listener) return refuse(listener.error());
  const auto config = sys::read_text_file(options.config);
  if (!config) return refuse(config.error());
  const auto wait_killable = sets_wait_killable(options);
  if (!wait_killable) return refuse(wait_killable.error());
  core::ProfileOptions profile;
  profile.listener_path = std::move(*listener);
  profile.wait_killable = *wait_killable;
  profile.refuse_io_uring = !options.allow_io_uring;
  const auto merged = core::apply_profile(*config, profile);
  if (!merged) return refuse(merged.error());
  if (!options.in_place && options.output.empty()) {
    std::fputs(merged->c_str(), stdout);
    return kDone;
  }
  const auto written = options.in_place ? sys::replace_text_file(options.config, *merged)
                                        : write_file(options.output, *merged);
  return written ? kDone : refuse(written.error());
}

}  // namespace sockhop::cli
