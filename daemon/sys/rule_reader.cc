#include "sys/rule_reader.h"

#include <fcntl.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <linux/xfrm.h>
#include <sys/socket.h>

#include <charconv>
#include <optional>
#include <utility>

#include "sys/netlink_answers.h"
#include "sys/nft_rules.h"
#include "sys/proc_files.h"

namespace sockhop::sys {
namespace {

Result<core::RouteSelectors> read_selectors(NetlinkSocket& socket) {
  core::RouteSelectors selectors;
  for (const int family : {AF_INET, AF_INET6}) {
    NetlinkRequest request(RTM_GETRULE, NLM_F_DUMP);
    request.add_header<fib_rule_hdr>()->family = static_cast<std::uint8_t>(family);
    const auto asked =
        socket.ask(request, [&](const nlmsghdr& message) { add_selectors(message, selectors); });
    // Without policy routing, or without the family, there are no rules.
    if (!asked && asked.error().code != EAFNOSUPPORT && asked.error().code != EOPNOTSUPP) {
      return asked.error();
    }
  }
  return selectors;
}

Result<bool> has_shaping_queue(NetlinkSocket& socket) {
  NetlinkRequest request(RTM_GETQDISC, NLM_F_DUMP);
  request.add_header<tcmsg>();
  bool found = false;
  const auto asked = socket.ask(
      request, [&](const nlmsghdr& message) { found = found || shapes_or_classifies(message); });
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

// Queues that shape or classify, and xfrm.
Result<bool> shapes_or_transforms(NetlinkSocket& route, std::optional<NetlinkSocket>& xfrm) {
  auto found = has_shaping_queue(route);
  if (found && !*found && xfrm) found = has_xfrm_policy(*xfrm);
  return found;
}

// "32768\t60999"
bool begins_high(const UniqueFd& local_ports) {
  if (!local_ports) return false;
  const auto text = read_again(local_ports);
  int first = 0;
  return text &&
         std::from_chars(text->data(), text->data() + text->size(), first).ec == std::errc{} &&
         first >= 32768;
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
  Sockets sockets{std::move(*netfilter), std::move(*route), std::nullopt};
  if (xfrm) sockets.xfrm = std::move(*xfrm);
  UniqueFd ports(::open("/proc/sys/net/ipv4/ip_local_port_range", O_RDONLY | O_CLOEXEC));
  return RuleReader(std::move(sockets), std::move(*legacy), std::move(ports));
}

// Several dumps make one rule set if no change came between them. A container that changes its
// rules all the time is not worth more than a few tries.
Status RuleReader::read_nft(core::NamespaceRules& rules) {
  auto before = nft_generation(sockets_.netfilter);
  if (!before) return before.error();
  if (*before == rules.nft_generation && *before != 0) return {};
  for (int i = 0; i < 3; ++i) {
    auto read = read_nft_rules(sockets_.netfilter);
    const auto after = nft_generation(sockets_.netfilter);
    if (!after) return after.error();
    // A set that was named by one dump is gone in the next: ENOENT.
    const bool interrupted = !read && (read.error().code == EINTR || read.error().code == ENOENT);
    if (!read && !interrupted) return read.error();
    if (read && *after == *before) {
      rules.nft = std::move(*read);
      rules.nft_generation = *after;
      return {};
    }
    before = after;
  }
  return Error{EINTR, "nftables rules", {}};
}

Result<RuleReader::Reread> RuleReader::read(core::NamespaceRules known) {
  Reread reread;
  const auto generation = known.nft_generation;
  reread.rules.nft = std::move(known.nft);
  reread.rules.nft_generation = generation;
  if (auto done = read_nft(reread.rules); !done) return done.error();
  auto legacy = legacy_.read();
  if (!legacy) return legacy.error();
  reread.rules.legacy = std::move(*legacy);
  auto selectors = read_selectors(sockets_.route);
  if (!selectors) return selectors.error();
  reread.rules.selectors = *selectors;
  const auto more = shapes_or_transforms(sockets_.route, sockets_.xfrm);
  if (!more) return more.error();
  reread.rules.shapes_or_transforms = *more;
  reread.rules.local_ports_are_high = begins_high(local_ports_);
  reread.changed = generation != reread.rules.nft_generation || known.unreadable ||
                   known.legacy != reread.rules.legacy ||
                   known.selectors != reread.rules.selectors ||
                   known.local_ports_are_high != reread.rules.local_ports_are_high ||
                   known.shapes_or_transforms != reread.rules.shapes_or_transforms;
  return reread;
}

}  // namespace sockhop::sys
