#include "keeper/options.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "sys/runtime_dir.h"

namespace sockhop::keeper {
namespace {

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  if (!file || folder) {
    const int code = folder ? EISDIR : errno;
    return Error{code, "config",
                 path +
                     ": make it a file that this user can read, or name another "
                     "one with --config"};
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Status apply_command_line(core::Config& config, const Options& options) {
  for (const auto& [name, value] : options.settings) {
    if (auto set = core::set_option(config, name, value); !set) return set.error();
  }
  std::vector<core::Rule> rules;
  for (const auto& text : options.rules) {
    auto rule = core::parse_rule(text);
    if (!rule) return rule.error();
    rules.push_back(*rule);
  }
  auto& all = config.policy.rules;
  all.insert(all.begin(), rules.begin(), rules.end());
  auto& uplinks = config.policy.uplinks;
  uplinks.insert(uplinks.end(), options.uplinks.begin(), options.uplinks.end());
  return {};
}

// The option NAME with one of the words that core::set_option knows.
void add_setting(CLI::App& app, Options& options, const std::string& name,
                 const std::string& help) {
  app.add_option_function<std::vector<std::string>>(
      "--" + name,
      [&options, name](const std::vector<std::string>& values) {
        for (const auto& value : values) options.settings.emplace_back(name, value);
      },
      help);
}

}  // namespace

std::optional<EndProgram> parse_command_line(int argc, char** argv, Options& options) {
  CLI::App app("Gives rootless containers the network stack of the host.", "sockhopd");
  app.set_version_flag("--version", "sockhopd " SOCKHOP_VERSION);
  app.add_option("--config", options.config_path,
                 "Configuration file (default: $XDG_CONFIG_HOME/sockhop/sockhop.toml)");
  app.add_option("--log-level", options.log_level, "trace, debug, info, warning, error or off")
      ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error", "off"}))
      ->capture_default_str();
  app.add_option("--rule", options.rules,
                 "\"stay|hop|deny CIDR[:PORT[-PORT]][/tcp|udp]\", repeatable");
  app.add_option("--uplink", options.uplinks, "A tap device to trust as a way out, repeatable");
  add_setting(app, options, "names", "Names of hopped sockets: container (default) or host");
  add_setting(app, options, "host-local",
              "Connections to and from the host itself: stay (default; published: relayed) or hop");
  add_setting(app, options, "udp", "Connected UDP sockets: stay (default) or hop");
  add_setting(app, options, "strict",
              "Hand over connected sockets only, none where rules deny: false (default) or true");
  add_setting(app, options, "without",
              "A feature not to use: sync-wake-up, wait-killable, pidfd-thread or awake-cores");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& stop) {
    return EndProgram{app.exit(stop) == 0 ? 0 : 2};
  }
  return std::nullopt;
}

Result<core::Config> load_config(const Options& options) {
  const bool named = !options.config_path.empty();
  const std::string path = named ? options.config_path : sys::default_config_path();
  core::Config config;
  auto text = read_text(path);
  if (text) {
    auto parsed = core::parse_config(*text);
    if (!parsed) return Error{EINVAL, "config", path + ": " + parsed.error().detail};
    config = std::move(*parsed);
  } else if (named || text.error().code != ENOENT) {
    return text.error();
  }
  if (auto applied = apply_command_line(config, options); !applied) return applied.error();
  return config;
}

}  // namespace sockhop::keeper
