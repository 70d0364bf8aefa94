#include "sys/rule_reader.h"

#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <linux/xfrm.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/filtering.h"
#include "sys/nft_rules.h"

namespace sockhop::sys {
namespace {

// A rule with one of these may send the container's packets elsewhere than it sends our question,
// which names a destination only.
constexpr std::array<int, 9> kSelectors{FRA_SRC,         FRA_IIFNAME,     FRA_OIFNAME,
                                        FRA_FWMARK,      FRA_UID_RANGE,   FRA_IP_PROTO,
                                        FRA_SPORT_RANGE, FRA_DPORT_RANGE, FRA_TUN_ID};

// Queues that only queue.
constexpr std::array<std::string_view, 8> kPlainQueues{"noqueue",  "noop", "pfifo_fast", "pfifo",
                                                       "fq_codel", "fq",   "mq",         "mqprio"};

bool selects(const nlmsghdr& message) {
  if (message.nlmsg_type != RTM_NEWRULE) return false;
  if (mnl_nlmsg_get_payload_len(&message) < sizeof(fib_rule_hdr)) return true;
  const auto* header = static_cast<const fib_rule_hdr*>(mnl_nlmsg_get_payload(&message));
  if (header->tos != 0) return true;
  const auto rule = NetlinkAttributes<FRA_MAX + 1>::of_message(message, sizeof(fib_rule_hdr));
  return std::any_of(kSelectors.begin(), kSelectors.end(),
                     [&](int selector) { return rule.find(selector) != nullptr; });
}

Result<bool> has_selecting_rule(NetlinkSocket& socket) {
  bool found = false;
  for (const int family : {AF_INET, AF_INET6}) {
    NetlinkRequest request(RTM_GETRULE, NLM_F_DUMP);
    request.add_header<fib_rule_hdr>()->family = static_cast<std::uint8_t>(family);
    const auto asked =
        socket.ask(request, [&](const nlmsghdr& message) { found = found || selects(message); });
    // Without policy routing, or without the family, there are no rules.
    if (!asked && asked.error().code != EAFNOSUPPORT && asked.error().code != EOPNOTSUPP) {
      return asked.error();
    }
  }
  return found;
}

bool shapes(const nlmsghdr& message) {
  if (message.nlmsg_type != RTM_NEWQDISC) return false;
  const auto queue = NetlinkAttributes<TCA_MAX + 1>::of_message(message, sizeof(tcmsg));
  const auto* kind = queue.find(TCA_KIND);
  if (kind == nullptr) return true;
  const std::string_view name(static_cast<const char*>(mnl_attr_get_payload(kind)));
  return std::find(kPlainQueues.begin(), kPlainQueues.end(), name) == kPlainQueues.end();
}

Result<bool> has_shaping_queue(NetlinkSocket& socket) {
  NetlinkRequest request(RTM_GETQDISC, NLM_F_DUMP);
  request.add_header<tcmsg>();
  bool found = false;
  const auto asked =
      socket.ask(request, [&](const nlmsghdr& message) { found = found || shapes(message); });
  if (!asked) return asked.error();
  return found;
}

Result<bool> has_xfrm_policy(NetlinkSocket& socket) {
  NetlinkRequest request(XFRM_MSG_GETSPDINFO, 0);
  request.add_header<std::uint32_t>();
  bool found = false;
  const auto asked = socket.ask(request, [&](const nlmsghdr& message) {
    const auto reply =
        NetlinkAttributes<XFRMA_SPD_MAX + 1>::of_message(message, sizeof(std::uint32_t));
    const auto* info = reply.find(XFRMA_SPD_INFO, sizeof(xfrmu_spdinfo));
    if (info == nullptr) return;
    const auto* counts = static_cast<const xfrmu_spdinfo*>(mnl_attr_get_payload(info));
    found = counts->incnt + counts->outcnt + counts->fwdcnt != 0;
  });
  if (!asked) return asked.error();
  return found;
}

// A dump that a change interrupted is asked again; a container that changes its rules all the time
// is not worth more tries.
Result<core::FilteringSum> read_nft_patiently(NetlinkSocket& socket) {
  auto sum = read_nft_rules(socket);
  for (int i = 0; i < 2 && !sum && sum.error().code == EINTR; ++i) sum = read_nft_rules(socket);
  return sum;
}

}  // namespace

Result<RuleReader> RuleReader::open() {
  auto netfilter = NetlinkSocket::open(NETLINK_NETFILTER);
  if (!netfilter) return netfilter.error();
  auto route = NetlinkSocket::open(NETLINK_ROUTE);
  if (!route) return route.error();
  auto legacy = LegacyTables::open();
  if (!legacy) return legacy.error();
  auto xfrm = NetlinkSocket::open(NETLINK_XFRM);
  if (!xfrm && xfrm.error().code != EPROTONOSUPPORT) return xfrm.error();
  std::optional<NetlinkSocket> policies;
  if (xfrm) policies = std::move(*xfrm);
  return RuleReader(std::move(*netfilter), std::move(*route), std::move(policies),
                    std::move(*legacy));
}

Result<bool> RuleReader::has_more_than_routes() {
  auto found = has_selecting_rule(route_);
  if (found && !*found) found = has_shaping_queue(route_);
  if (found && !*found && xfrm_) found = has_xfrm_policy(*xfrm_);
  return found;
}

Result<core::Filtering> RuleReader::read() {
  auto sum = read_nft_patiently(netfilter_);
  if (!sum) return sum.error();
  *sum = legacy_.read(*sum);
  const auto more = has_more_than_routes();
  if (!more) return more.error();
  if (*more) sum->add_unknown();
  return sum->result();
}

}  // namespace sockhop::sys
