#include "engine/session.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "core/decide.h"
#include "engine/timed_notify.h"
#include "sys/clock.h"
#include "sys/netns.h"
#include "sys/readiness.h"

namespace sockhop::engine {
namespace {

namespace asio = boost::asio;

// Callers that went away without a word, and listeners of other processes, are looked for this
// often.
constexpr std::chrono::milliseconds kSweep{250};
constexpr std::chrono::milliseconds kRetry{1000};
// One container's calls are served in turns with the session's own messages.
constexpr int kBatch = 64;

using Views = std::unique_ptr<sys::NamespaceQuestions>;

Result<Views> views_on(sys::WorkerThread& worker) {
  Result<std::unique_ptr<sys::NamespaceViews>> views = Error{};
  worker.run([&] { views = sys::NamespaceViews::open(sys::Standpoint::inside); });
  if (!views) return views.error();
  return Views(std::move(*views));
}

}  // namespace

/// In the order of construction; each needs only what stands above it.
struct Session::Parts {
  std::unique_ptr<sys::WorkerThread> container;
  std::unique_ptr<sys::WorkerThread> middle;
  std::unique_ptr<sys::RegistrationThread> registrations;
  std::unique_ptr<PathFinder> paths;
  std::unique_ptr<KernelSocketMaker> sockets;
  std::unique_ptr<ProcessTable> processes;
  std::unique_ptr<References> references;
  std::optional<sys::WaitSet> waits;
  std::optional<Shared> shared;
  std::optional<ConnectFlow> connects;
  std::unique_ptr<Listeners> listeners;
  std::optional<NameCalls> names;
  Pace pace;
  std::unique_ptr<Dispatcher> dispatcher;
  std::optional<asio::posix::stream_descriptor> wait_events;
  std::optional<asio::posix::stream_descriptor> listener_events;
  std::vector<core::PublishedPort> ports;
  Features features;
};

/// A notify fd in the loop; the number belongs to the session memory, never to Asio.
struct Session::Served {
  Served(asio::io_context& loop, std::int32_t fd) : number(fd), descriptor(loop, fd) {}
  ~Served() { (void)descriptor.release(); }
  std::int32_t number;
  asio::posix::stream_descriptor descriptor;
};

Session::Session(asio::io_context& loop, sys::SessionMemory& memory)
    : loop_(loop), memory_(memory), parts_(std::make_unique<Parts>()), timer_(loop) {}

Session::~Session() {
  if (parts_->wait_events) (void)parts_->wait_events->release();
  if (parts_->listener_events) (void)parts_->listener_events->release();
}

Result<std::unique_ptr<Session>> Session::open(asio::io_context& loop, sys::SessionMemory& memory,
                                               SessionStart start) {
  std::unique_ptr<Session> session(new Session(loop, memory));
  if (auto done = session->assemble(std::move(start)); !done) return done.error();
  return session;
}

namespace {

/// Where destinations are asked: container, middle, host.
Result<PathPlaces> open_places(const sys::SessionMemory& memory, sys::WorkerThread& container,
                               sys::WorkerThread* middle) {
  PathPlaces places;
  auto inside = views_on(container);
  if (!inside) return inside.error();
  auto inode = sys::namespace_inode(sys::kept_fd(memory, sys::Kept::container_netns, 0));
  if (!inode) return inode.error();
  places.container = {"container", *inode, std::move(*inside)};
  if (middle != nullptr) {
    auto views = views_on(*middle);
    if (!views) return views.error();
    auto middle_inode = sys::namespace_inode(sys::kept_fd(memory, sys::Kept::middle_netns, 0));
    if (!middle_inode) return middle_inode.error();
    places.middle.push_back({"middle", *middle_inode, std::move(*views)});
  }
  auto host = sys::NamespaceViews::open(sys::Standpoint::outside);
  if (!host) return host.error();
  places.host = {"host", 0, std::move(*host)};
  return places;
}

Result<sys::NetnsCookies> read_cookies(sys::WorkerThread& container) {
  const auto host = sys::own_netns_cookie();
  if (!host) return host.error();
  Result<std::uint64_t> inside = Error{};
  container.run([&] { inside = sys::own_netns_cookie(); });
  if (!inside) return inside.error();
  return sys::NetnsCookies{.host = *host, .container = *inside};
}

}  // namespace

Status Session::assemble(SessionStart start) {
  Parts& parts = *parts_;
  parts.features = start.features;
  auto container = sys::start_in_netns(sys::kept_fd(memory_, sys::Kept::container_netns, 0));
  if (!container) return container.error();
  parts.container = std::move(*container);
  if (const FdRef netns = sys::kept_fd(memory_, sys::Kept::middle_netns, 0); netns.get() >= 0) {
    auto middle = sys::start_in_netns(netns);
    if (!middle) return middle.error();
    parts.middle = std::move(*middle);
  }
  auto registrations = sys::RegistrationThread::start();
  if (!registrations) return registrations.error();
  parts.registrations = std::move(*registrations);
  auto places = open_places(memory_, *parts.container, parts.middle.get());
  if (!places) return places.error();
  parts.paths = std::make_unique<PathFinder>(std::move(*places), std::move(start.uplinks),
                                             std::make_unique<sys::SystemCpuClock>());
  auto sockets = KernelSocketMaker::open(*parts.container);
  if (!sockets) return sockets.error();
  parts.sockets = std::move(*sockets);
  parts.processes = std::make_unique<ProcessTable>(start.features.thread_pidfd);
  auto last = sys::LastReference::open();
  if (!last) return last.error();
  parts.references =
      std::make_unique<References>(*parts.processes, *parts.registrations, std::move(*last));
  auto waits = sys::WaitSet::open();
  if (!waits) return waits.error();
  parts.waits.emplace(std::move(*waits));
  const auto cookies = read_cookies(*parts.container);
  if (!cookies) return cookies.error();
  parts.shared.emplace(Shared{memory_, *cookies, std::move(start.policy), *parts.paths,
                              *parts.sockets, *parts.references, *parts.waits,
                              std::move(start.container)});
  parts.connects.emplace(*parts.shared);
  parts.names.emplace(*parts.shared, *parts.connects, *parts.container, parts.ports);
  auto listeners = Listeners::open(*parts.shared, *parts.container);
  if (!listeners) return listeners.error();
  parts.listeners = std::move(*listeners);
  parts.dispatcher = std::make_unique<Dispatcher>(
      Dispatcher::Parts{*parts.shared, *parts.connects, *parts.names, *parts.processes,
                        *parts.listeners, start.features.thread_pidfd});
  parts.ports = std::move(start.ports);
  if (auto done = parts.listeners->set_ports(parts.ports); !done) return done;

  for (const auto& kept : memory_.kept) {
    if (kept.kind == sys::Kept::notify) serve(kept.key);
  }
  parts.dispatcher->resume_all();
  parts.listeners->start();
  parts.wait_events.emplace(loop_, parts.waits->fd().get());
  parts.listener_events.emplace(loop_, parts.listeners->events().get());
  wait_connections();
  wait_listeners();
  arm_timer();
  return {};
}

void Session::serve(std::uint64_t key) {
  const FdRef fd = sys::kept_fd(memory_, sys::Kept::notify, key);
  if (fd.get() < 0) return;
  auto notify = sys::open_notify_fd(fd, parts_->features.sync_wake_up);
  if (parts_->features.awake_cores) notify = time_exchanges(std::move(notify), parts_->pace);
  parts_->dispatcher->add_notify(fd.get(), std::move(notify));
  served_[key] = std::make_unique<Served>(loop_, fd.get());
  wait_notify(key);
}

void Session::wait_notify(std::uint64_t key) {
  served_.at(key)->descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
                                         [this, key](const boost::system::error_code& error) {
                                           if (!error) on_notify(key);
                                         });
}

void Session::on_notify(std::uint64_t key) {
  const auto found = served_.find(key);
  if (found == served_.end()) return;
  const std::int32_t number = found->second->number;
  for (int i = 0; i < kBatch; ++i) {
    const auto ready = sys::poll_now(FdRef::from_number(number));
    if (ready.readable) {
      if (!parts_->dispatcher->receive(number)) {
        starved_.push_back(key);
        return arm_timer();
      }
    } else if (ready.hung_up) {
      return hang_up(key);
    } else {
      break;
    }
  }
  arm_timer();
  wait_notify(key);
}

void Session::hang_up(std::uint64_t key) {
  parts_->dispatcher->remove_notify(served_.at(key)->number);
  served_.erase(key);
  sys::drop_kept(memory_, sys::Kept::notify, key);
  if (served_.empty() && ended_) ended_();
}

void Session::wait_connections() {
  parts_->wait_events->async_wait(asio::posix::stream_descriptor::wait_read,
                                  [this](const boost::system::error_code& error) {
                                    if (error) return;
                                    for (const auto& event : parts_->waits->take()) {
                                      parts_->dispatcher->wake(event.key);
                                    }
                                    retry_starved();
                                    wait_connections();
                                  });
}

void Session::wait_listeners() {
  parts_->listener_events->async_wait(
      asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
        if (error) return;
        parts_->listeners->take_events(
            [this](std::uint64_t index) { parts_->dispatcher->wake(index); });
        retry_starved();
        arm_timer();
        wait_listeners();
      });
}

void Session::retry_starved() {
  for (const std::uint64_t key : std::exchange(starved_, {})) on_notify(key);
}

void Session::arm_timer() {
  const bool calls_wait = parts_->dispatcher->any_waiting();
  if (!calls_wait && !parts_->listeners->has_problem()) return;
  auto wait = std::chrono::nanoseconds(calls_wait ? kSweep : kRetry);
  if (const std::int64_t deadline = parts_->dispatcher->next_deadline(); deadline != 0) {
    wait = std::clamp(std::chrono::nanoseconds(deadline - sys::monotonic_ns()),
                      std::chrono::nanoseconds(0), wait);
  }
  const auto at = asio::steady_timer::clock_type::now() + wait;
  if (timer_armed_ && timer_.expiry() <= at) return;
  timer_armed_ = true;
  timer_.expires_at(at);  // a wait that was for later ends with operation_aborted
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    timer_armed_ = false;
    parts_->dispatcher->sweep();
    parts_->listeners->retry();
    retry_starved();
    arm_timer();
  });
}

void Session::set_policy(core::Policy policy) { parts_->shared->policy = std::move(policy); }

void Session::set_uplinks(std::vector<core::Uplink> uplinks) {
  parts_->paths->set_uplinks(std::move(uplinks));
}

Status Session::set_ports(std::vector<core::PublishedPort> ports) {
  auto& listeners = *parts_->listeners;
  const auto before = std::exchange(parts_->ports, std::move(ports));
  auto done = listeners.set_ports(parts_->ports);
  if (done) done = listeners.check_served(before);
  if (!done) {
    parts_->ports = before;
    (void)listeners.set_ports(before);
  }
  arm_timer();
  return done;
}

std::vector<PortState> Session::ports() const {
  std::vector<PortState> all;
  for (const auto& port : parts_->ports) {
    const auto state = parts_->listeners->state_of(port);
    all.push_back({port, state.listening, state.problem, state.injected, state.relayed});
  }
  return all;
}

std::uint32_t Session::notify_count() const { return static_cast<std::uint32_t>(served_.size()); }

Explained Session::explain(const core::Endpoint& destination) {
  core::SocketFacts fresh;
  fresh.family = destination.address.is_v4() ? AF_INET : AF_INET6;
  fresh.type = SOCK_STREAM;
  fresh.protocol = IPPROTO_TCP;
  fresh.side = core::Side::container;
  Explained result{parts_->connects->decide_for(destination, fresh), {}};
  result.steps = parts_->paths->explain(destination);
  return result;
}

}  // namespace sockhop::engine
