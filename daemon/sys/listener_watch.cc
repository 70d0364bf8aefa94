#include "sys/listener_watch.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/socket_facts.h"
#include "sys/inet_bytes.h"

namespace sockhop::sys {
namespace {

constexpr std::size_t kMaxListed = 4096;

static_assert(sizeof(inet_diag_msg) == 72);
static_assert(sizeof(inet_diag_req_v2) == 56);

std::optional<ListenerEntry> read_entry(const nlmsghdr& message) {
  if (message.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
      mnl_nlmsg_get_payload_len(&message) < sizeof(inet_diag_msg)) {
    return std::nullopt;
  }
  const auto& facts = *static_cast<const inet_diag_msg*>(mnl_nlmsg_get_payload(&message));
  const std::size_t length = facts.idiag_family == AF_INET ? 4 : 16;
  const auto address =
      address_of_bytes({reinterpret_cast<const std::byte*>(facts.id.idiag_src), length});
  ListenerEntry entry;
  entry.local.address = *address;
  entry.local.port = ntohs(facts.id.idiag_sport);
  entry.cookie = facts.id.idiag_cookie[0] | std::uint64_t{facts.id.idiag_cookie[1]} << 32;
  return entry;
}

// Its protocol above TCP is named "mptcp" (net/ipv4/tcp_diag.c, tcp_diag_put_ulp).
bool is_below_mptcp(const nlmsghdr& message) {
  const auto all =
      NetlinkAttributes<INET_DIAG_ULP_INFO + 1>::of_message(message, sizeof(inet_diag_msg));
  const nlattr* above = all.find(INET_DIAG_ULP_INFO);
  if (above == nullptr) return false;
  const auto parts = NetlinkAttributes<INET_ULP_INFO_NAME + 1>::of_nest(above);
  const nlattr* name = parts.find(INET_ULP_INFO_NAME);
  if (name == nullptr) return false;
  const std::string_view text(static_cast<const char*>(mnl_attr_get_payload(name)),
                              mnl_attr_get_payload_len(name));
  return text.starts_with("mptcp");
}

// Lets through the destroy messages whose local port is in the set.
std::vector<sock_filter> make_filter(std::span<const std::uint16_t> ports) {
  constexpr std::uint32_t kPortOffset =
      sizeof(nlmsghdr) + offsetof(inet_diag_msg, id) + offsetof(inet_diag_sockid, idiag_sport);
  std::vector<sock_filter> filter;
  filter.push_back(BPF_STMT(BPF_LD | BPF_H | BPF_ABS, kPortOffset));
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const auto to_accept = static_cast<std::uint8_t>(ports.size() - i);
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ports[i], to_accept, 0));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, 0));
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, 0xffffffff));
  return filter;
}

Status attach_filter(FdRef socket, std::span<const std::uint16_t> ports) {
  if (ports.size() > ListenerWatch::kMaxPorts) return Error{E2BIG, "listener filter", {}};
  auto filter = make_filter(ports);
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0) {
    return errno_error("setsockopt(SO_ATTACH_FILTER)");
  }
  return {};
}

}  // namespace

Result<ListenerWatch> ListenerWatch::open(std::span<const std::uint16_t> ports) {
  auto events = NetlinkSocket::open(NETLINK_SOCK_DIAG);
  if (!events) return events.error();
  auto questions = NetlinkSocket::open(NETLINK_SOCK_DIAG);
  if (!questions) return questions.error();
  // The filter first: nothing that is not wanted may ever be queued.
  if (auto attached = attach_filter(events->fd(), ports); !attached) return attached.error();
  for (const std::uint32_t group : {SKNLGRP_INET_TCP_DESTROY, SKNLGRP_INET6_TCP_DESTROY}) {
    if (auto joined = events->join(group); !joined) return joined.error();
  }
  return ListenerWatch(std::move(*events), std::move(*questions));
}

Status ListenerWatch::set_ports(std::span<const std::uint16_t> ports) {
  return attach_filter(events_.fd(), ports);
}

ListenerWatch::Gone ListenerWatch::drain() {
  Gone gone;
  const auto drained = events_.drain([&](const nlmsghdr& message) {
    if (auto entry = read_entry(message)) gone.sockets.push_back(*entry);
  });
  gone.overflow = drained == NetlinkSocket::Drained::overflow;
  return gone;
}

Result<std::vector<ListenerEntry>> ListenerWatch::list_listeners(
    std::span<const std::uint16_t> ports) {
  std::vector<ListenerEntry> all;
  for (const int family : {AF_INET, AF_INET6}) {
    NetlinkRequest request(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP);
    auto* query = request.add_header<inet_diag_req_v2>();
    query->sdiag_family = static_cast<std::uint8_t>(family);
    query->sdiag_protocol = IPPROTO_TCP;
    query->idiag_ext = 1U << (INET_DIAG_INFO - 1);  // what lies above TCP comes with it
    query->idiag_states = 1U << static_cast<unsigned>(core::TcpState::listen);
    const auto asked = questions_.ask(request, [&](const nlmsghdr& message) {
      auto entry = read_entry(message);
      if (!entry || all.size() >= kMaxListed) return;
      if (std::find(ports.begin(), ports.end(), entry->local.port) != ports.end()) {
        entry->multipath = is_below_mptcp(message);
        all.push_back(*entry);
      }
    });
    if (!asked) return asked.error();
  }
  return all;
}

}  // namespace sockhop::sys
