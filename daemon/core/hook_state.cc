#include "core/hook_state.h"

#include "core/json.h"
#include "core/oci_state.h"

namespace sockhop::core {
namespace {

std::string text_member(const boost::json::object& object, std::string_view key) {
  const auto* member = find_member(object, key);
  return member != nullptr && member->is_string() ? std::string(member->get_string())
                                                  : std::string();
}

}  // namespace

Result<HookState> parse_hook_state(std::string_view text) {
  const auto document = parse_json_object(text, "OCI state");
  if (!document) return document.error();
  HookState state{text_member(*document, "id"), text_member(*document, "bundle")};
  if (auto checked = check_container_id(state.id); !checked) return checked.error();
  return state;
}

Result<std::string> listener_of(std::string_view config) {
  const auto document = parse_json_object(config, "OCI config");
  if (!document) return document.error();
  const boost::json::object* object = &*document;
  for (const std::string_view key : {"linux", "seccomp"}) {
    const auto* member = find_member(*object, key);
    object = member != nullptr ? member->if_object() : nullptr;
    if (object == nullptr) return std::string();
  }
  return text_member(*object, "listenerPath");
}

}  // namespace sockhop::core
