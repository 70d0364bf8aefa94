#include "core/config.h"

#include <algorithm>
#include <array>

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ENABLE_WINDOWS_COMPAT 0
#include <toml++/toml.h>

namespace sockhop::core {
namespace {

constexpr std::string_view kFeatures[] = {"sync-wake-up", "wait-killable", "pidfd-thread",
                                          "awake-cores"};

Error at_line(const toml::node& node, const std::string& what) {
  return input_error("config", "line " + std::to_string(node.source().begin.line) + ": " + what);
}

Result<std::vector<std::string>> strings_of(const std::string& key, const toml::node& node) {
  const auto* array = node.as_array();
  if (!array) return at_line(node, key + " must be a list of strings");
  std::vector<std::string> strings;
  for (const auto& item : *array) {
    const auto text = item.value<std::string>();
    if (!text) return at_line(item, key + " must hold strings only");
    strings.push_back(*text);
  }
  return strings;
}

Status read_list(Config& config, const std::string& key, const toml::node& node) {
  auto strings = strings_of(key, node);
  if (!strings) return strings.error();
  if (key == "uplinks") {
    config.policy.uplinks = std::move(*strings);
  } else if (key == "without") {
    for (const auto& feature : *strings) {
      if (auto set = set_option(config, "without", feature); !set) {
        return at_line(node, set.error().detail);
      }
    }
  } else {
    for (const auto& text : *strings) {
      auto rule = parse_rule(text);
      if (!rule) return at_line(node, "rule \"" + text + "\": " + rule.error().detail);
      config.policy.rules.push_back(*rule);
    }
  }
  return {};
}

Status read_key(Config& config, const std::string& key, const toml::node& node) {
  if (key == "rules" || key == "uplinks" || key == "without") return read_list(config, key, node);
  std::string value;
  if (const auto text = node.value_exact<std::string>()) {
    value = *text;
  } else if (const auto flag = node.value_exact<bool>()) {
    value = *flag ? "true" : "false";
  } else {
    return at_line(node, key + " must be a string, true or false");
  }
  auto set = set_option(config, key, value);
  if (!set) return at_line(node, set.error().detail);
  return {};
}

// One of two words, as a flag: true for the second.
Status choose(bool& into, std::string_view name, std::string_view value,
              const std::array<std::string_view, 2>& words) {
  if (value != words[0] && value != words[1]) {
    return input_error("option", std::string(name) + " must be " + std::string(words[0]) + " or " +
                                     std::string(words[1]) + ", not \"" + std::string(value) +
                                     "\"");
  }
  into = value == words[1];
  return {};
}

}  // namespace

Result<Config> parse_config(std::string_view text) {
  const auto parsed = toml::parse(text);
  if (!parsed) {
    return input_error("config", "line " + std::to_string(parsed.error().source().begin.line) +
                                     ": " + std::string(parsed.error().description()));
  }
  Config config;
  for (const auto& [key, node] : parsed.table()) {
    auto read = read_key(config, std::string(key.str()), node);
    if (!read) return read.error();
  }
  return config;
}

Status set_option(Config& config, std::string_view name, std::string_view value) {
  Policy& policy = config.policy;
  if (name == "names") return choose(policy.names_of_host, name, value, {"container", "host"});
  if (name == "host-local") return choose(policy.host_local_hop, name, value, {"stay", "hop"});
  if (name == "udp") return choose(policy.udp_hop, name, value, {"stay", "hop"});
  if (name == "strict") return choose(policy.strict, name, value, {"false", "true"});
  if (name == "without") {
    if (std::find(std::begin(kFeatures), std::end(kFeatures), value) == std::end(kFeatures)) {
      return input_error("option",
                         "without knows sync-wake-up, wait-killable, pidfd-thread and "
                         "awake-cores, not \"" +
                             std::string(value) + "\"");
    }
    config.without.emplace_back(value);
    return {};
  }
  return input_error("option",
                     "there is no option \"" + std::string(name) +
                         "\"; rules, names, host-local, udp, strict, uplinks and without exist");
}

bool Config::allows(std::string_view feature) const {
  return std::find(without.begin(), without.end(), feature) == without.end();
}

Policy policy_for(const Config& config, const std::vector<Rule>& own_rules, bool accelerate) {
  Policy policy = config.policy;
  policy.rules.insert(policy.rules.begin(), own_rules.begin(), own_rules.end());
  policy.accelerate = accelerate;
  return policy;
}

}  // namespace sockhop::core
