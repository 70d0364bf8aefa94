#include "core/container_wishes.h"

#include <utility>

#include "core/json.h"
#include "core/policy.h"
#include "core/port_table.h"

namespace sockhop::core {
namespace {

constexpr const char* kWhat = "annotation or label";
constexpr std::string_view kPrefix = "sockhop/";

Error wrong(std::string_view key, std::string_view value, const std::string& why) {
  return input_error(kWhat,
                     std::string(key) + "=\"" + std::string(value.substr(0, 200)) + "\": " + why);
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// The entries between commas; empty ones are left out.
std::vector<std::string> entries_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view entry = trimmed(text.substr(0, comma));
    if (!entry.empty()) out.emplace_back(entry);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return out;
}

std::optional<bool> as_flag(std::string_view text) {
  if (text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  return std::nullopt;
}

Status take_ports(ContainerWishes& wishes, std::string_view key, std::string_view value) {
  wishes.ports = entries_of(value);
  for (const auto& port : wishes.ports) {
    if (const auto read = parse_published_port(port); !read) {
      return wrong(key, value, read.error().detail);
    }
  }
  return {};
}

Status take_rules(ContainerWishes& wishes, std::string_view key, std::string_view value) {
  wishes.rules = entries_of(value);
  for (const auto& rule : wishes.rules) {
    if (const auto read = parse_rule(rule); !read) return wrong(key, value, read.error().detail);
  }
  return {};
}

Status take(ContainerWishes& wishes, std::string_view key, std::string_view value) {
  const std::string_view name = key.substr(kPrefix.size());
  if (name == "ports") return take_ports(wishes, key, value);
  if (name == "rules") return take_rules(wishes, key, value);
  if (name != "accelerate" && name != "required") {
    return wrong(key, value,
                 "no such annotation; sockhop/accelerate, sockhop/required, sockhop/ports and "
                 "sockhop/rules exist");
  }
  const auto flag = as_flag(value);
  if (!flag) return wrong(key, value, "write true or false");
  if (name == "accelerate") {
    wishes.accelerate = *flag;
  } else {
    wishes.required = *flag;
  }
  return {};
}

const boost::json::object* object_member(const boost::json::object* parent, std::string_view key) {
  const auto* member = parent != nullptr ? find_member(*parent, key) : nullptr;
  return member != nullptr ? member->if_object() : nullptr;
}

Status take_all(ContainerWishes& wishes, const boost::json::object* names) {
  if (names == nullptr) return {};
  for (const auto& [key, value] : *names) {
    if (!std::string_view(key).starts_with(kPrefix)) continue;
    if (!value.is_string()) return wrong(key, "", "its value is no text");
    if (auto taken = take(wishes, key, value.get_string()); !taken) return taken;
  }
  return {};
}

/// The text of a member, or nothing.
std::string_view text_of(const boost::json::object& object, std::string_view key) {
  const auto* member = find_member(object, key);
  return member != nullptr && member->is_string() ? std::string_view(member->get_string())
                                                  : std::string_view();
}

}  // namespace

std::string docker_state_file(std::string_view config, std::string_view container) {
  const auto document = parse_json_object(config, "OCI config");
  const auto* mounts = document ? find_member(*document, "mounts") : nullptr;
  if (mounts == nullptr || !mounts->is_array()) return {};
  const std::string end = "/containers/" + std::string(container) + "/resolv.conf";
  for (const auto& mount : mounts->get_array()) {
    if (!mount.is_object()) continue;
    const auto source = text_of(mount.get_object(), "source");
    if (text_of(mount.get_object(), "destination") == "/etc/resolv.conf" && source.ends_with(end)) {
      return std::string(source.substr(0, source.rfind('/'))) + "/config.v2.json";
    }
  }
  return {};
}

Result<ContainerWishes> read_wishes(std::string_view config, std::string_view docker_state) {
  const auto document = parse_json_object(config, "OCI config");
  if (!document) return document.error();
  ContainerWishes wishes;
  if (!docker_state.empty()) {
    const auto state = parse_json_object(docker_state, "Docker's container state");
    if (!state) return state.error();
    const auto* labels = object_member(object_member(&*state, "Config"), "Labels");
    if (auto taken = take_all(wishes, labels); !taken) return taken.error();
  }
  if (auto taken = take_all(wishes, object_member(&*document, "annotations")); !taken) {
    return taken.error();
  }
  return wishes;
}

}  // namespace sockhop::core
