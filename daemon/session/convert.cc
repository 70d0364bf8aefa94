#include "session/convert.h"

#include <algorithm>

#include "sys/messages/convert.h"

namespace sockhop::session {
namespace {

bool lists(const google::protobuf::RepeatedPtrField<std::string>& names, const char* name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string verdict_name(const core::Verdict& verdict) {
  struct Visitor {
    std::string operator()(const core::Stay&) const { return "stay"; }
    std::string operator()(const core::Hop&) const { return "hop"; }
    std::string operator()(const core::Deny&) const { return "deny"; }
  };
  return std::visit(Visitor{}, verdict);
}

}  // namespace

Result<engine::SessionStart> start_of(const internal::Start& message) {
  engine::SessionStart start;
  start.container = message.container();
  auto policy = internal::policy_of(message.policy());
  if (!policy) return policy.error();
  start.policy = std::move(*policy);
  for (const auto& port : message.ports()) {
    const auto one = internal::port_of(port);
    if (!one) return one.error();
    start.ports.push_back(*one);
  }
  start.uplinks = internal::uplinks_of(message.uplinks());
  // A device that the user vouches for counts in every namespace.
  for (const auto& device : start.policy.uplinks) {
    start.uplinks.push_back({.netns_inode = 0,
                             .device = device,
                             .kind = core::UplinkKind::named_by_option,
                             .outbound_fixed = false,
                             .mapped = {}});
  }
  start.features.thread_pidfd = !lists(message.without(), "pidfd-thread");
  start.features.sync_wake_up = !lists(message.without(), "sync-wake-up");
  start.features.awake_cores = !lists(message.without(), "awake-cores");
  return start;
}

internal::Explanation explanation_of(const engine::Explained& explained) {
  internal::Explanation message;
  message.set_verdict(verdict_name(explained.verdict));
  const auto reason =
      std::visit([](const auto& verdict) { return verdict.reason; }, explained.verdict);
  message.set_reason(std::string(core::describe(reason)));
  for (const auto& step : explained.steps) {
    auto* one = message.add_steps();
    one->set_where(step.where);
    one->set_what(step.what);
  }
  return message;
}

}  // namespace sockhop::session
