#include "core/profile_merge.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

namespace sockhop::core {
namespace {

struct WatchedCall {
  std::string name;
  Terms when;
};

Term argument_masked(unsigned index, std::uint64_t mask, std::uint64_t value) {
  return {{index, masked_equal(mask, value)}};
}

/// An int argument: the kernel ignores the upper half of the register, so must the rule.
constexpr std::uint64_t kIntMask = 0xffffffff;

/// getsockopt(SOL_SOCKET, option).
Term socket_option(std::uint64_t option) {
  return {{1, masked_equal(kIntMask, 1)}, {2, masked_equal(kIntMask, option)}};
}

std::vector<WatchedCall> make_watched_calls() {
  constexpr std::uint64_t kFastOpen = 0x20000000;  // MSG_FASTOPEN
  constexpr std::uint64_t kBindToDevice = 25;      // SO_BINDTODEVICE
  constexpr std::uint64_t kBindToIfindex = 62;     // SO_BINDTOIFINDEX
  std::vector<WatchedCall> out;
  for (const char* name :
       {"connect", "bind", "listen", "accept", "accept4", "getsockname", "epoll_create",
        "epoll_create1", "landlock_restrict_self", "socketcall"}) {
    out.push_back({name, every_call()});
  }
  out.push_back({"sendto", {argument_masked(3, kFastOpen, kFastOpen)}});
  out.push_back({"sendmsg", {argument_masked(2, kFastOpen, kFastOpen)}});
  out.push_back({"sendmmsg", {argument_masked(3, kFastOpen, kFastOpen)}});
  out.push_back({"ioctl", {argument_masked(1, 0xffffff00, 0x8900)}});  // SIOC*: sockets
  out.push_back({"getsockopt", {socket_option(kBindToDevice), socket_option(kBindToIfindex)}});
  return out;
}

const std::vector<WatchedCall>& watched_calls() {
  static const std::vector<WatchedCall> calls = make_watched_calls();
  return calls;
}

/// What the profile says about one name.
struct Stance {
  Terms permitted;                                // by rules or by the default action
  Terms refused;                                  // by rules
  std::vector<std::pair<std::string, Terms>> by;  // permitting rules that are not the default

  [[nodiscard]] bool too_long() const {
    return permitted.size() + refused.size() + by.size() > kMaxTerms;
  }
};

bool has_name(const SeccompRule& rule, std::string_view name) {
  return std::find(rule.names.begin(), rule.names.end(), name) != rule.names.end();
}

Stance stance_on(std::string_view name, const std::vector<SeccompRule>& rules,
                 std::string_view default_action) {
  Stance out;
  if (is_permitting(default_action)) out.permitted = every_call();
  for (const SeccompRule& rule : rules) {
    if (out.too_long()) break;
    // The runtimes drop a rule that repeats the default.
    if (!has_name(rule, name) || rule.action == default_action) continue;
    if (!is_permitting(rule.action)) {
      out.refused = unite(out.refused, rule.when);
      continue;
    }
    out.permitted = unite(out.permitted, rule.when);
    out.by.emplace_back(rule.action, rule.when);
  }
  return out;
}

/// permitted and not refused.
std::optional<Terms> effective(const Stance& stance) {
  if (stance.too_long()) return std::nullopt;
  const std::optional<Terms> open = complement(stance.refused);
  return open ? intersect(stance.permitted, *open) : std::nullopt;
}

/// The rules for one watched call; empty when it has to be left alone.
std::vector<SeccompRule> rules_for(const WatchedCall& call, const Stance& stance) {
  const std::optional<Terms> permitted = effective(stance);
  if (!permitted) return {};
  const std::optional<Terms> notified = intersect(*permitted, call.when);
  if (!notified || notified->empty()) return {};
  std::vector<SeccompRule> out{{{call.name}, std::string(kActionNotify), {}, *notified}};
  if (stance.by.empty()) return out;  // the default action permits the rest

  const std::optional<Terms> others = complement(call.when);
  const std::optional<Terms> rest = others ? intersect(*permitted, *others) : std::nullopt;
  if (!rest) return {};
  for (const auto& [action, when] : stance.by) {
    const std::optional<Terms> still = intersect(when, *rest);
    if (!still) return {};
    if (!still->empty()) out.push_back({{call.name}, action, {}, *still});
  }
  return out;
}

/// Adds to the entry that says the same of other names, so that the profile stays readable.
void append(std::vector<SeccompRule>& rules, const SeccompRule& rule) {
  const auto same = std::find_if(rules.begin(), rules.end(), [&](const SeccompRule& other) {
    return other.action == rule.action && other.error == rule.error && other.when == rule.when;
  });
  if (same == rules.end()) {
    rules.push_back(rule);
  } else {
    same->names.insert(same->names.end(), rule.names.begin(), rule.names.end());
  }
}

/// io_uring would do network calls that no notification shows.
void refuse_io_uring(const std::vector<SeccompRule>& rules, std::string_view default_action,
                     MergedRules& merged) {
  for (const char* name : {"io_uring_setup", "io_uring_enter", "io_uring_register"}) {
    const Stance stance = stance_on(name, rules, default_action);
    if (stance.permitted.empty() || is_every_call(stance.refused)) continue;
    append(merged.ours, {{name}, std::string(kActionErrno), ENOSYS, every_call()});
    merged.taken.emplace_back(name);
  }
}

}  // namespace

bool is_watched_call(std::string_view name) {
  const auto& calls = watched_calls();
  return std::any_of(calls.begin(), calls.end(),
                     [&](const WatchedCall& call) { return call.name == name; });
}

MergedRules merge_rules(const std::vector<SeccompRule>& rules, std::string_view default_action,
                        bool no_io_uring) {
  MergedRules merged;
  for (const WatchedCall& call : watched_calls()) {
    const auto added = rules_for(call, stance_on(call.name, rules, default_action));
    for (const SeccompRule& rule : added) append(merged.ours, rule);
    if (!added.empty()) merged.taken.push_back(call.name);
  }
  if (no_io_uring) refuse_io_uring(rules, default_action, merged);
  return merged;
}

}  // namespace sockhop::core
