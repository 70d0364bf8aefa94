#include "sys/scratch_netns.h"

#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>

#include "core/sockaddr.h"
#include "sys/arrival_device.h"
#include "sys/inet_bytes.h"
#include "sys/netlink.h"

namespace sockhop::sys {
namespace {

constexpr std::size_t kMaxAddresses = 16;

Status bring_up_loopback() {
  const UniqueFd probe(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!probe) return errno_error("socket");
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_LOOPBACK | IFF_RUNNING;
  if (::ioctl(probe.get(), SIOCSIFFLAGS, &request) < 0) return errno_error("SIOCSIFFLAGS");
  return {};
}

Status bind_to(FdRef socket, const core::Endpoint& endpoint, int family) {
  const auto name = core::make_sockaddr(endpoint, family);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(name.data()),
             static_cast<socklen_t>(name.size())) < 0) {
    return errno_error("bind");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<ScratchNetns>> ScratchNetns::make() {
  std::unique_ptr<ScratchNetns> self(new ScratchNetns);
  auto worker = WorkerThread::start([]() -> Status {
    if (::unshare(CLONE_NEWNET) < 0) return errno_error("unshare");
    return bring_up_loopback();
  });
  if (!worker) return worker.error();
  self->worker_ = std::move(*worker);
  return self;
}

Status ScratchNetns::add_address(const core::Address& address) {
  if (address.is_loopback() || addresses_.contains(address)) return {};
  if (addresses_.size() >= kMaxAddresses) return Error{E2BIG, "scratch addresses", {}};
  auto netlink = NetlinkSocket::open(NETLINK_ROUTE);
  if (!netlink) return netlink.error();
  NetlinkRequest request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_ACK);
  auto* header = request.add_header<ifaddrmsg>();
  const bool v4 = address.is_v4();
  header->ifa_family = v4 ? AF_INET : AF_INET6;
  header->ifa_prefixlen = v4 ? 32 : 128;
  header->ifa_flags = v4 ? 0 : IFA_F_NODAD;
  header->ifa_index = kLoopbackDevice;
  const auto bytes = v4 ? v4_bytes(address) : std::span<const std::uint8_t>(address.bytes);
  mnl_attr_put(request.header, IFA_LOCAL, bytes.size(), bytes.data());
  mnl_attr_put(request.header, IFA_ADDRESS, bytes.size(), bytes.data());
  if (auto added = netlink->ask(request, [](const nlmsghdr&) {}); !added) return added;
  addresses_.insert(address);
  return {};
}

Result<SocketPair> ScratchNetns::connect_pair(const core::Address& peer, const core::Endpoint& own,
                                              int family) {
  const int type = SOCK_STREAM | SOCK_CLOEXEC;
  UniqueFd listener(::socket(family, type, IPPROTO_TCP));
  UniqueFd connected(::socket(family, type, IPPROTO_TCP));
  if (!listener || !connected) return errno_error("socket");
  const int on = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (auto bound = bind_to(listener, own, family); !bound) return bound.error();
  if (::listen(listener.get(), 1) < 0) return errno_error("listen");
  if (auto bound = bind_to(connected, {peer, 0, 0}, family); !bound) return bound.error();
  const auto name = core::make_sockaddr(own, family);
  if (::connect(connected.get(), reinterpret_cast<const sockaddr*>(name.data()),
                static_cast<socklen_t>(name.size())) < 0) {
    return errno_error("connect");
  }
  UniqueFd accepted(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!accepted) return errno_error("accept4");
  ::fcntl(connected.get(), F_SETFL, O_NONBLOCK);
  return SocketPair{std::move(accepted), std::move(connected)};
}

Result<SocketPair> ScratchNetns::make_pair(const core::Address& peer, const core::Endpoint& own,
                                           int family) {
  Result<SocketPair> pair = Error{};
  worker_->run([&] {
    for (const auto& address : {peer, own.address}) {
      if (auto added = add_address(address); !added) {
        pair = added.error();
        return;
      }
    }
    pair = connect_pair(peer, own, family);
  });
  return pair;
}

}  // namespace sockhop::sys
