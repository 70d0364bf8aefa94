#include "engine/listeners.h"

#include <spdlog/spdlog.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "sys/arrival_device.h"
#include "sys/clock.h"
#include "sys/host_socket.h"
#include "sys/socket_query.h"

namespace sockhop::engine {
namespace {

using core::Reason;
using core::TcpState;

constexpr std::uint32_t kListenerEvents = EPOLLIN | EPOLLRDHUP;
// A host that cannot listen is asked again this often, and named in the log so often at most.
constexpr std::int64_t kRetryNs = 1'000'000'000;
constexpr std::int64_t kTellNs = 60'000'000'000;

std::string remedy_for(const core::PublishedPort& port) {
  return "`ss -tanp sport = :" + std::to_string(port.host.port) + "` shows who is in the way";
}

/// A listener of the container, as the kernel lists it.
bool shows(const sys::ListenerEntry& entry, const Listener& listener) {
  if (!listener.multipath) return entry.cookie == listener.cookie;
  return entry.multipath && entry.local.port == listener.local.port &&
         entry.local.address == listener.local.address;
}

}  // namespace

Result<std::unique_ptr<Listeners>> Listeners::open(Shared& shared, sys::WorkerThread& container) {
  auto edges = sys::EdgeSet::open();
  if (!edges) return edges.error();
  std::unique_ptr<Listeners> self(new Listeners(shared, container, std::move(*edges)));
  std::optional<Result<sys::ListenerOptions>> options;
  container.run([&] { options.emplace(sys::ListenerOptions::open()); });
  if (!*options) return options->error();
  self->ports_ = std::make_unique<ListenerPorts>(shared.memory, self->edges_, std::move(**options));
  auto accepted = Accepted::open(shared, container);
  if (!accepted) return accepted.error();
  self->accepted_ = std::move(*accepted);
  const auto watched =
      self->edges_.watch(self->accepted_->relay().finished(), EPOLLIN, kRelayEvent);
  if (!watched) return watched.error();
  return self;
}

Status Listeners::watch_ends() {
  const auto ports = ports_->container_ports();
  if (watch_) return watch_->set_ports(ports);
  if (ports.empty()) return {};
  std::optional<Result<sys::ListenerWatch>> watch;
  container_.run([&] { watch.emplace(sys::ListenerWatch::open(ports)); });
  if (!*watch) return watch->error();
  watch_.emplace(std::move(**watch));
  return edges_.watch(watch_->fd(), EPOLLIN, kWatchEvent);
}

Status Listeners::set_ports(const std::vector<core::PublishedPort>& ports) {
  if (auto set = ports_->set(ports); !set) return set;
  if (auto watched = watch_ends(); !watched) return watched;
  list_again();
  return {};
}

Status Listeners::check_served(const std::vector<core::PublishedPort>& besides) const {
  if (not_listed_ != 0) return Error{not_listed_, "listing the container's listeners"};
  for (const HostPort& port : ports_->all()) {
    const bool known = std::find(besides.begin(), besides.end(), port.published) != besides.end();
    if (known || port.problem == 0) continue;
    return Error{port.problem, "listen",
                 core::to_string(port.published) + "; " + remedy_for(port.published)};
  }
  return {};
}

void Listeners::start() { list_again(); }

void Listeners::list_again() {
  if (!watch_) return;
  const auto listed = watch_->list_listeners(ports_->container_ports());
  not_listed_ = listed ? 0 : listed.error().code;
  if (!listed) return;
  std::vector<std::uint64_t> ended;
  for (const auto& one : table_.all()) {
    const bool there = std::any_of(listed->begin(), listed->end(),
                                   [&](const auto& entry) { return shows(entry, *one); });
    if (!there) ended.push_back(one->cookie);
  }
  for (const std::uint64_t cookie : ended) table_.remove(cookie);
  for (const auto& entry : *listed) {
    const int family = entry.local.address.is_v4() ? AF_INET : AF_INET6;
    // Its own cookie comes with its next listen() or accept().
    if (entry.multipath || !ports_->reach(entry.local, false)) continue;
    Listener* listener = table_.find(entry.cookie);
    if (listener == nullptr) listener = table_.add(entry.cookie, entry.local, family, false);
    if (listener == nullptr) continue;
    ports_->listen_for(*listener, FdRef::from_number(-1));
  }
  ports_->stop_unserved(table_);
  tell_problems();
}

bool Listeners::has_problem() const { return !check_served({}); }

void Listeners::retry() {
  if (!has_problem() || sys::monotonic_ns() - retried_at_ < kRetryNs) return;
  retried_at_ = sys::monotonic_ns();
  list_again();
}

void Listeners::tell_problems() {
  const std::int64_t now = sys::monotonic_ns();
  for (HostPort& port : ports_->all()) {
    // A container can bring this about again and again: its log stays short.
    if (port.problem == 0 || (port.told_at != 0 && now - port.told_at < kTellNs)) continue;
    port.told_at = now;
    spdlog::warn(
        "container {}: port {}: its server listens, but the host refuses its clients: {}. It is "
        "tried again every second; {}",
        shared_.container, core::to_string(port.published), ::strerror(port.problem),
        remedy_for(port.published));
  }
}

Listener* Listeners::known(const core::SocketFacts& facts, FdRef copy) {
  Listener* listener = table_.find(facts.cookie);
  const bool changed =
      listener == nullptr || listener->family != facts.family || listener->v6_only != facts.v6_only;
  if (changed) {
    listener = table_.add(facts.cookie, facts.local, facts.family, facts.v6_only);
    if (listener == nullptr) return nullptr;
    listener->multipath = facts.is_multipath();
    listener->backlog = sys::listen_backlog(copy);
    ports_->stop_unserved(table_);
    ports_->listen_for(*listener, copy);
    tell_problems();
  }
  if (!listener->watched) {
    listener->watched =
        edges_.watch(copy, kListenerEvents, kListenerEvent | facts.cookie).has_value();
    listener->reports_arrivals = sys::reports_arrivals(copy, facts.family);
  }
  return listener;
}

Outcome Listeners::on_listen(ActiveCall& call, const core::ListenCall& asked, UniqueFd copy,
                             const core::SocketFacts& facts) {
  const bool may = facts.state == TcpState::close || facts.state == TcpState::listen;
  if (!may || facts.local.port == 0 || !ports_->reach(facts.local, facts.v6_only)) {
    return stay_inside(Reason::not_ours);
  }
  const bool fresh = table_.find(facts.cookie) == nullptr;
  Listener* listener = table_.add(facts.cookie, facts.local, facts.family, facts.v6_only);
  if (listener == nullptr || !call.still_waiting()) return stay_inside(Reason::daemon_error);
  // First the host: a connection may come as soon as the caller was told that it listens. Where the
  // host cannot listen, the container's listener works without it.
  listener->backlog = asked.backlog;
  listener->multipath = facts.is_multipath();
  ports_->listen_for(*listener, copy);
  if (auto listens = sys::listen_on(copy, asked.backlog); !listens) {
    if (fresh && facts.state != TcpState::listen) table_.remove(facts.cookie);
    ports_->stop_unserved(table_);
    return fail(listens.error().code);
  }
  (void)known(facts, copy);
  tell_problems();
  return Return{};
}

Listeners::State Listeners::state_of(const core::PublishedPort& port) const {
  for (const HostPort& one : ports_->all()) {
    if (one.published != port) continue;
    const auto& counters = shared_.memory.ports[one.row];
    return {one.serves != 0, one.problem, counters.injected, counters.relayed};
  }
  return {};
}

}  // namespace sockhop::engine
