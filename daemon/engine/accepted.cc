#include "engine/accepted.h"

#include <sys/socket.h>

#include <utility>

#include "sys/arrival_device.h"
#include "sys/host_endpoint.h"
#include "sys/host_socket.h"
#include "sys/socket_query.h"

namespace sockhop::engine {
namespace {

core::Address address_of(const char* text) { return core::Address::parse(text).value(); }

// Asked for only to learn the way out; nobody is contacted (RFC 5737, RFC 3849).
const char* far_away(bool v4) { return v4 ? "203.0.113.1" : "2001:db8::1"; }

}  // namespace

Result<std::unique_ptr<Accepted>> Accepted::open(Shared& shared, sys::WorkerThread& container) {
  std::optional<Result<sys::ListenerOptions>> options;
  container.run([&] { options.emplace(sys::ListenerOptions::open()); });
  if (!*options) return options->error();
  std::unique_ptr<Accepted> self(new Accepted(shared, container, std::move(**options)));
  auto relay = Relay::open(shared.memory);
  if (!relay) return relay.error();
  self->relay_ = std::move(*relay);
  return self;
}

std::optional<int> Accepted::leash_of(const HostPort& port, const sys::CallSlot& slot) {
  const auto device = sys::arrival_device(FdRef::from_number(slot.host_fd), port.family);
  if (!device || *device == 0) return std::nullopt;
  if (*device == sys::kLoopbackDevice) {
    return shared_.policy.host_local_hop ? device.value() : std::optional<int>();
  }
  if (slot.destination.address.is_link_local()) return *device;
  // Bound to a device that the answers do not leave through, it would fall silent.
  const Path path = shared_.paths.find_on_host(slot.destination.address);
  const auto* back = std::get_if<core::HostPath>(&path);
  if (back == nullptr || back->device != *device) return std::nullopt;
  return *device;
}

Status Accepted::make_harmless(const Listener& listener, const HostPort& port, sys::CallSlot& slot,
                               FdRef copy) {
  const FdRef fd = FdRef::from_number(slot.host_fd);
  if (slot.resumed != 0) {
    // An engine died between: one end of a pair already, or leashed.
    if (sys::netns_cookie(fd) != shared_.cookies.host) return {};
    if (sys::bound_device(fd) != 0) {
      if (!listener.reports_arrivals) sys::forget_arrival(fd, port.family);
      return {};
    }
  }
  sys::let_port_be_bound(fd);
  const auto device = port.family == listener.family ? leash_of(port, slot) : std::nullopt;
  auto& counters = shared_.memory.ports[port.row];
  if (!device) {
    const auto relayed = relay(listener, slot, copy);
    if (relayed) ++counters.relayed;
    return relayed;
  }
  if (auto bound = sys::bind_to_device(fd, *device); !bound) return bound;
  if (!listener.reports_arrivals) sys::forget_arrival(fd, port.family);
  ++counters.injected;
  return {};
}

const Accepted::Names& Accepted::names(bool v4) {
  auto& known = v4 ? v4_ : v6_;
  if (known) return *known;
  Names names{address_of(v4 ? "10.0.2.2" : "fd00::2"), address_of(v4 ? "10.0.2.100" : "fd00::100")};
  container_.run([&] {
    auto routes = sys::RouteView::open();
    if (!routes) return;
    const auto answer = routes->lookup(address_of(far_away(v4)));
    if (!answer || answer->kind != core::RouteKind::unicast) return;
    if (answer->gateway && answer->gateway->is_v4() == v4 && !answer->gateway->is_link_local()) {
      names.gateway = *answer->gateway;
    }
    if (answer->source && answer->source->is_v4() == v4) names.own = *answer->source;
  });
  return known.emplace(names);
}

Status Accepted::relay(const Listener& listener, sys::CallSlot& slot, FdRef copy) {
  if (!scratch_) {
    auto made = sys::ScratchNetns::make();
    if (!made) return made.error();
    scratch_ = std::move(*made);
  }
  const bool v4 =
      listener.family == AF_INET || (!listener.v6_only && slot.destination.address.is_v4());
  const Names& shown = names(v4);
  const bool anywhere = listener.local.address.is_unspecified();
  const core::Endpoint own{anywhere ? shown.own : listener.local.address, listener.local.port, 0};
  auto pair = scratch_->make_pair(shown.gateway, own, listener.family);
  if (!pair) return pair.error();
  if (copy.get() >= 0) options_.carry(copy, pair->accepted, listener.family);
  if ((slot.status_flags & SOCK_NONBLOCK) != 0) {
    (void)sys::set_nonblocking(pair->accepted, true);
  }
  (void)sys::set_nonblocking(FdRef::from_number(slot.host_fd), true);
  const auto peer = sys::peer_name(pair->accepted);
  const auto added = relay_->add(std::move(pair->connected), std::move(pair->accepted), slot);
  if (!added) return added;
  if (peer) slot.destination = *peer;
  return {};
}

}  // namespace sockhop::engine
