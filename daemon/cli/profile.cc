#include "core/profile.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "sys/runtime_dir.h"

namespace sockhop::cli {
namespace {

ExitStatus refuse(const Error& error) {
  std::fprintf(stderr, "sockhop: %s\n", to_string(error).c_str());
  return kRefused;
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return errno_error("open", path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) return errno_error("write", path);
  return {};
}

// Written beside and renamed, so that a full disk never leaves half a config.json.
Status replace_file(const std::string& path, const std::string& text) {
  const std::string beside = path + ".sockhop";
  if (auto written = write_file(beside, text); !written) return written;
  std::error_code error;
  const auto mode = std::filesystem::status(path, error).permissions();
  std::filesystem::permissions(beside, mode, error);
  std::filesystem::rename(beside, path, error);
  if (error) return Error{error.value(), "rename", path};
  return {};
}

Result<std::string> listener_of(const ProfileOptions& options) {
  if (!options.listener.empty()) return options.listener;
  const auto dir = sys::find_runtime_dir();
  if (!dir) return dir.error();
  return dir->seccomp_socket();
}

}  // namespace

ExitStatus apply_profile(const ProfileOptions& options) {
  auto listener = listener_of(options);
  if (!listener) return refuse(listener.error());
  const auto config = read_file(options.config);
  if (!config) return refuse(config.error());
  core::ProfileOptions profile;
  profile.listener_path = std::move(*listener);
  profile.wait_killable = options.wait_killable;
  profile.refuse_io_uring = !options.allow_io_uring;
  const auto merged = core::apply_profile(*config, profile);
  if (!merged) return refuse(merged.error());
  if (!options.in_place && options.output.empty()) {
    std::fputs(merged->c_str(), stdout);
    return kDone;
  }
  const auto written = options.in_place ? replace_file(options.config, *merged)
                                        : write_file(options.output, *merged);
  return written ? kDone : refuse(written.error());
}

}  // namespace sockhop::cli
