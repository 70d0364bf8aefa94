#include "core/runtime_config.h"

#include <optional>
#include <utility>

#include "core/kernel_version.h"
#include "core/text.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ENABLE_WINDOWS_COMPAT 0
#include <toml++/toml.h>

namespace sockhop::core {
namespace {

constexpr const char* kWhat = "runtime.toml";

Error at_line(const toml::node& node, const std::string& what) {
  return input_error(kWhat, "line " + std::to_string(node.source().begin.line) + ": " + what);
}

Status read_text(const std::string& key, const toml::node& node, std::string& into) {
  auto text = node.value_exact<std::string>();
  if (!text || text->empty()) return at_line(node, key + " must be a string that is not empty");
  into = std::move(*text);
  return {};
}

Status read_flag(const std::string& key, const toml::node& node, bool& into) {
  const auto flag = node.value_exact<bool>();
  if (!flag) return at_line(node, key + " must be true or false");
  into = *flag;
  return {};
}

Status read_key(RuntimeConfig& config, const std::string& key, const toml::node& node) {
  if (key == "runtime") return read_text(key, node, config.runtime);
  if (key == "default-profile") return read_text(key, node, config.default_profile);
  if (key == "required") return read_flag(key, node, config.required);
  if (key == "quiet") return read_flag(key, node, config.quiet);
  if (key == "allow-io-uring") return read_flag(key, node, config.allow_io_uring);
  if (key == "patience") {
    const auto seconds = node.value<double>();
    if (!seconds || !(*seconds >= 0.1 && *seconds <= 4.5)) {
      return at_line(node, "patience must be a number of seconds, 0.1 to 4.5");
    }
    config.patience = std::chrono::milliseconds(static_cast<int>(*seconds * 1000));
    return {};
  }
  return at_line(node, "there is no key " + key +
                           "; runtime, required, quiet, allow-io-uring, patience and "
                           "default-profile exist");
}

}  // namespace

Result<RuntimeConfig> parse_runtime_config(std::string_view text) {
  const auto parsed = toml::parse(text);
  if (!parsed) {
    return input_error(kWhat, "line " + std::to_string(parsed.error().source().begin.line) + ": " +
                                  std::string(parsed.error().description()));
  }
  RuntimeConfig config;
  for (const auto& [key, node] : parsed.table()) {
    if (auto read = read_key(config, std::string(key.str()), node); !read) return read.error();
  }
  return config;
}

std::string runtime_behind(std::string_view own_name) {
  constexpr std::string_view kPrefix = "sockhop-";
  if (own_name.starts_with(kPrefix)) own_name.remove_prefix(kPrefix.size());
  return own_name == "runtime" ? std::string() : std::string(own_name);
}

bool runtime_sets_wait_killable(std::string_view version, std::string_view release) {
  if (!version_at_least(release, 5, 19)) return false;
  const auto after = [&](std::string_view word) -> std::string_view {
    const auto at = version.find(word);
    return at == std::string_view::npos ? "" : version.substr(at + word.size());
  };
  if (const auto crun = after("crun version "); !crun.empty()) {
    return version_at_least(crun, 1, 6);
  }
  return version_at_least(after("runc version "), 1, 5) &&
         version_at_least(after("libseccomp: "), 2, 6);
}

}  // namespace sockhop::core
