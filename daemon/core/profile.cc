#include "core/profile.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/profile_merge.h"
#include "core/profile_section.h"

namespace sockhop::core {
namespace json = boost::json;

namespace {

constexpr const char* kWhat = "seccomp profile";
constexpr std::size_t kMaxConfig = 16 * 1024 * 1024;
constexpr std::array kArchitectures{"SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"};

/// The object at `key`, made when missing.
Result<json::object*> member_object(json::object& parent, std::string_view key) {
  json::value& member = parent[key];
  if (member.is_null()) member = json::object();
  if (json::object* object = member.if_object()) return object;
  return input_error(kWhat, std::string(key) + " is not an object");
}

Result<std::string> text_member(const json::object& section, std::string_view key) {
  const json::value* member = find_member(section, key);
  if (member == nullptr) return std::string();
  if (!member->is_string()) return input_error(kWhat, std::string(key) + " is not a string");
  return std::string(member->get_string());
}

/// Adds the strings that the array at `key` lacks; makes it when missing.
Status ensure_strings(json::object& section, std::string_view key,
                      const std::vector<std::string_view>& wanted) {
  json::value& member = section[key];
  if (member.is_null()) member = json::array();
  json::array* array = member.if_array();
  if (array == nullptr) return input_error(kWhat, std::string(key) + " is not an array");
  for (const std::string_view text : wanted) {
    const auto same = [&](const json::value& entry) {
      return entry.is_string() && entry.get_string() == text;
    };
    if (std::none_of(array->begin(), array->end(), same)) array->emplace_back(text);
  }
  return {};
}

bool notifies(const SeccompRule& rule) { return rule.action == kActionNotify; }

bool only_watched(const SeccompRule& rule) {
  return std::all_of(rule.names.begin(), rule.names.end(), is_watched_call);
}

enum class Application { fresh, repeated };

/// Repeated when an earlier run put our rules in; an Error when somebody else's are there.
Result<Application> application_to(const std::vector<SeccompRule>& rules,
                                   const std::string& default_action, const std::string& listener,
                                   const ProfileOptions& options) {
  if (!listener.empty() && listener != options.listener_path) {
    return input_error(kWhat, "it already notifies " + listener +
                                  ", and a container has only one listener: remove listenerPath "
                                  "and the SCMP_ACT_NOTIFY rules from it");
  }
  if (default_action == kActionNotify) {
    return input_error(kWhat, "defaultAction SCMP_ACT_NOTIFY is not supported by any runtime");
  }
  if (std::none_of(rules.begin(), rules.end(), notifies)) return Application::fresh;
  const bool ours =
      !listener.empty() && std::all_of(rules.begin(), rules.end(), [](const auto& rule) {
        return !notifies(rule) || only_watched(rule);
      });
  if (ours) return Application::repeated;
  return input_error(kWhat, "it has SCMP_ACT_NOTIFY rules of another program: remove them from it");
}

/// Takes the names out of the permitting entry; what is left may be without names.
void take_names(json::object& entry, const std::vector<std::string>& taken) {
  json::array kept;
  for (const json::value& name : entry["names"].get_array()) {
    const std::string_view text = name.get_string();
    if (std::find(taken.begin(), taken.end(), text) == taken.end()) kept.push_back(name);
  }
  entry["names"] = std::move(kept);
}

/// Precondition: `rules` was read from the section, so its entries are well formed.
void put_rules(json::object& section, const std::vector<SeccompRule>& rules,
               const MergedRules& merged) {
  json::array out;
  for (const SeccompRule& rule : merged.ours) {
    for (json::value& entry : write_rule(rule)) out.push_back(std::move(entry));
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    json::object& entry = section["syscalls"].get_array()[i].get_object();
    if (is_permitting(rules[i].action)) take_names(entry, merged.taken);
    if (!entry["names"].get_array().empty()) out.push_back(std::move(entry));
  }
  section["syscalls"] = std::move(out);
}

/// A section that says nothing is, to the runtimes, no filter.
bool says_nothing(const json::object& section, const std::vector<SeccompRule>& rules) {
  return find_member(section, "defaultAction") == nullptr && rules.empty();
}

Status apply_to_section(json::object& section, const ProfileOptions& options) {
  auto rules = read_rules(section);
  if (!rules) return rules.error();
  if (says_nothing(section, *rules)) section["defaultAction"] = kActionAllow;
  const auto default_action = text_member(section, "defaultAction");
  if (!default_action) return default_action.error();
  if (default_action->empty()) return input_error(kWhat, "it has rules but no defaultAction");
  const auto listener = text_member(section, "listenerPath");
  if (!listener) return listener.error();

  const auto application = application_to(*rules, *default_action, *listener, options);
  if (!application) return application.error();
  if (*application == Application::fresh) {
    put_rules(section, *rules, merge_rules(*rules, *default_action, options.refuse_io_uring));
  }
  section["listenerPath"] = options.listener_path;
  if (options.wait_killable) {
    const Status flagged =
        ensure_strings(section, "flags", {"SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"});
    if (!flagged) return flagged;
  }
  return ensure_strings(section, "architectures", {kArchitectures.begin(), kArchitectures.end()});
}

}  // namespace

Result<std::string> apply_profile(std::string_view config, const ProfileOptions& options) {
  if (options.listener_path.empty()) return input_error(kWhat, "no listener path was given");
  if (config.size() > kMaxConfig) return input_error(kWhat, "the config is longer than 16 MiB");
  auto document = parse_json_object(config, "OCI config");
  if (!document) return document.error();
  const auto linux_part = member_object(*document, "linux");
  if (!linux_part) return linux_part.error();
  const auto section = member_object(**linux_part, "seccomp");
  if (!section) return section.error();
  if (const Status applied = apply_to_section(**section, options); !applied) return applied.error();
  return json::serialize(*document);
}

}  // namespace sockhop::core
