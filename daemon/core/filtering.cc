#include "core/filtering.h"

#include <algorithm>
#include <array>

namespace sockhop::core {
namespace {

// linux/netfilter.h and linux/netfilter/nf_tables.h; core includes no kernel headers.
constexpr std::int32_t kAccept = 1;
constexpr std::int32_t kContinue = -1;
constexpr std::int32_t kJump = -3;
constexpr std::int32_t kGoto = -4;
constexpr std::int32_t kReturn = -5;
constexpr std::uint32_t kSourceNat = 0;
// An xtables standard target holds -verdict - 1, XT_RETURN, or a jump's offset (not negative).
constexpr std::int32_t kXtAccept = -kAccept - 1;
constexpr std::int32_t kXtReturn = -5;

// They look at a packet or note something; whether the rule goes on is all they can decide, and
// where every verdict is harmless that does not matter.
constexpr std::array<std::string_view, 23> kLookers{
    "meta",      "payload", "cmp",    "bitwise", "lookup",    "ct",     "counter", "range",
    "limit",     "log",     "fib",    "rt",      "byteorder", "numgen", "hash",    "quota",
    "connlimit", "match",   "socket", "exthdr",  "osf",       "last",   "dynset"};

constexpr std::array<std::string_view, 8> kHarmlessTargets{
    "MASQUERADE", "SNAT", "LOG", "NFLOG", "MARK", "CONNMARK", "TRACE", "ERROR"};

template <class List>
bool contains(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool harmless_verdict(std::int32_t verdict) {
  switch (verdict) {
    case kAccept:
    case kContinue:
    case kJump:
    case kGoto:
    case kReturn:
      return true;
    default:
      return false;
  }
}

bool harmless(const RuleExpression& expression) {
  if (expression.writes) return false;
  if (expression.name == "masq") return true;
  if (expression.name == "nat") return expression.nat_type == kSourceNat;
  if (expression.name == "target") return contains(kHarmlessTargets, expression.target);
  if (expression.name == "immediate") {
    return !expression.verdict || harmless_verdict(*expression.verdict);
  }
  return contains(kLookers, expression.name);
}

}  // namespace

void FilteringSum::add_policy(std::uint32_t verdict) {
  present_ = true;
  if (verdict != static_cast<std::uint32_t>(kAccept)) harmful_ = true;
}

void FilteringSum::add_expression(const RuleExpression& expression) {
  present_ = true;
  if (!harmless(expression)) harmful_ = true;
}

void FilteringSum::add_legacy_target(std::string_view target, std::int32_t verdict) {
  present_ = true;
  const bool fine = target.empty() ? verdict >= 0 || verdict == kXtAccept || verdict == kXtReturn
                                   : contains(kHarmlessTargets, target);
  if (!fine) harmful_ = true;
}

Filtering FilteringSum::result() const {
  if (harmful_) return Filtering::unknown;
  return present_ ? Filtering::masquerade_only : Filtering::none;
}

}  // namespace sockhop::core
