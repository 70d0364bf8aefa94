#include "core/engine_profile.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/json.h"
#include "core/kernel_version.h"

namespace sockhop::core {
namespace json = boost::json;

namespace {

constexpr const char* kWhat = "engine profile";
constexpr std::string_view kArchitecture = "SCMP_ARCH_X86_64";
constexpr std::string_view kArchitectureOfGo = "amd64";

Error wrong(std::size_t entry, std::string_view what) {
  return input_error(kWhat, "syscalls[" + std::to_string(entry) + "] " + std::string(what));
}

const json::object* object_member(const json::object& parent, std::string_view key) {
  const json::value* member = find_member(parent, key);
  return member != nullptr ? member->if_object() : nullptr;
}

const json::array* array_member(const json::object& parent, std::string_view key) {
  const json::value* member = find_member(parent, key);
  return member != nullptr ? member->if_array() : nullptr;
}

/// The strings of an array; what is none is left out.
std::vector<std::string> strings_of(const json::array* array) {
  std::vector<std::string> out;
  if (array == nullptr) return out;
  for (const json::value& each : *array) {
    if (each.is_string()) out.emplace_back(each.get_string());
  }
  return out;
}

bool contains(const std::vector<std::string>& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

bool kernel_is_at_least(const json::object& filter, const std::string& release) {
  const json::value* wanted = find_member(filter, "minKernel");
  if (wanted == nullptr || !wanted->is_string()) return true;
  const auto oldest = parse_version(std::string_view(wanted->get_string()));
  const auto running = parse_version(release);
  return !oldest || !running || *running >= *oldest;
}

bool includes_us(const json::object* filter, const ProfileConditions& conditions) {
  if (filter == nullptr) return true;
  const auto arches = strings_of(array_member(*filter, "arches"));
  if (!arches.empty() && !contains(arches, kArchitectureOfGo)) return false;
  const auto needed = strings_of(array_member(*filter, "caps"));
  const bool has_all = std::all_of(needed.begin(), needed.end(), [&](const std::string& each) {
    return contains(conditions.capabilities, each);
  });
  return has_all && kernel_is_at_least(*filter, conditions.kernel);
}

bool excludes_us(const json::object* filter, const ProfileConditions& conditions) {
  if (filter == nullptr) return false;
  if (contains(strings_of(array_member(*filter, "arches")), kArchitectureOfGo)) return true;
  const auto unwanted = strings_of(array_member(*filter, "caps"));
  if (std::any_of(unwanted.begin(), unwanted.end(), [&](const std::string& each) {
        return contains(conditions.capabilities, each);
      })) {
    return true;
  }
  return find_member(*filter, "minKernel") != nullptr &&
         kernel_is_at_least(*filter, conditions.kernel);
}

/// The OCI part of an entry; nothing when it does not hold for this container.
Result<std::optional<json::object>> convert_entry(const json::value& value, std::size_t position,
                                                  const ProfileConditions& conditions) {
  const json::object* entry = value.if_object();
  if (entry == nullptr) return wrong(position, "is not an object");
  if (!includes_us(object_member(*entry, "includes"), conditions) ||
      excludes_us(object_member(*entry, "excludes"), conditions)) {
    return std::optional<json::object>();
  }
  json::array names;
  for (const auto& name : strings_of(array_member(*entry, "names"))) names.emplace_back(name);
  const json::value* single = find_member(*entry, "name");  // the format before 2019
  if (single != nullptr && single->is_string() && !single->get_string().empty()) {
    names.push_back(*single);
  }
  if (names.empty()) return wrong(position, "has no names");
  json::object out{{"names", std::move(names)}};
  for (const std::string_view key : {"action", "args", "errnoRet"}) {
    const json::value* member = find_member(*entry, key);
    if (member != nullptr && !(member->is_array() && member->get_array().empty())) {
      out[key] = *member;
    }
  }
  return std::optional(std::move(out));
}

json::array architectures_of(const json::object& profile) {
  json::array out;
  const json::array* map = array_member(profile, "archMap");
  if (map == nullptr) {
    const json::array* plain = array_member(profile, "architectures");
    return plain != nullptr ? *plain : out;
  }
  for (const json::value& value : *map) {
    const json::object* entry = value.if_object();
    const json::value* name = entry != nullptr ? find_member(*entry, "architecture") : nullptr;
    if (name == nullptr || !name->is_string() || name->get_string() != kArchitecture) continue;
    out.emplace_back(kArchitecture);
    for (const auto& each : strings_of(array_member(*entry, "subArchitectures"))) {
      out.emplace_back(each);
    }
  }
  return out;
}

std::vector<std::string> bounding_set(const json::object& config) {
  const json::object* process = object_member(config, "process");
  const json::object* sets = process != nullptr ? object_member(*process, "capabilities") : nullptr;
  return strings_of(sets != nullptr ? array_member(*sets, "bounding") : nullptr);
}

const json::object* section_of(const json::object& config) {
  const json::object* linux_part = object_member(config, "linux");
  return linux_part != nullptr ? object_member(*linux_part, "seccomp") : nullptr;
}

}  // namespace

Result<std::string> engine_profile_to_oci(std::string_view profile,
                                          const ProfileConditions& conditions) {
  const auto document = parse_json_object(profile, kWhat);
  if (!document) return document.error();
  const json::value* action = find_member(*document, "defaultAction");
  if (action == nullptr || !action->is_string()) {
    return input_error(kWhat, "it has no defaultAction; is it a seccomp profile?");
  }
  json::object out{{"defaultAction", *action}, {"architectures", architectures_of(*document)}};
  if (const json::value* error = find_member(*document, "defaultErrnoRet")) {
    out["defaultErrnoRet"] = *error;
  }
  json::array rules;
  if (const json::array* entries = array_member(*document, "syscalls")) {
    for (std::size_t i = 0; i < entries->size(); ++i) {
      auto rule = convert_entry((*entries)[i], i, conditions);
      if (!rule) return rule.error();
      if (*rule) rules.push_back(std::move(**rule));
    }
  }
  out["syscalls"] = std::move(rules);
  return json::serialize(out);
}

Result<bool> has_profile(std::string_view config) {
  const auto document = parse_json_object(config, "OCI config");
  if (!document) return document.error();
  const json::object* section = section_of(*document);
  if (section == nullptr) return false;
  const json::array* rules = array_member(*section, "syscalls");
  return find_member(*section, "defaultAction") != nullptr || (rules != nullptr && !rules->empty());
}

Result<std::string> put_engine_profile(std::string_view config, std::string_view profile,
                                       const std::string& kernel) {
  auto document = parse_json_object(config, "OCI config");
  if (!document) return document.error();
  const auto section = engine_profile_to_oci(profile, {bounding_set(*document), kernel});
  if (!section) return section.error();
  auto parsed = parse_json_object(*section, kWhat);
  if (!parsed) return parsed.error();
  json::value& linux_part = (*document)["linux"];
  if (linux_part.is_null()) linux_part = json::object();
  if (!linux_part.is_object()) return input_error(kWhat, "linux is not an object");
  linux_part.get_object()["seccomp"] = std::move(*parsed);
  return json::serialize(*document);
}

}  // namespace sockhop::core
