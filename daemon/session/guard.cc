#include "session/guard.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <optional>
#include <thread>

#include "engine/endpoint_key.h"
#include "session.pb.h"
#include "session/first_call.h"
#include "session/kept_start.h"
#include "sys/engine_process.h"
#include "sys/file_limit.h"
#include "sys/message_channel.h"
#include "sys/messages/convert.h"
#include "sys/netns.h"
#include "sys/notify_check.h"
#include "sys/readiness.h"
#include "sys/scm_rights.h"

namespace sockhop::session {
namespace {

// Fixed by the keeper: its end of the channel, and the socket that a restarted keeper connects to.
constexpr int kChannel = 3;
constexpr int kListener = 4;
constexpr std::chrono::milliseconds kPause{100};
constexpr int kGraceMs = 5000;

struct Arrived {
  internal::Start start;
  std::uint64_t serial = 0;
  std::vector<UniqueFd> descriptors;
};

Result<Arrived> receive_start(const sys::MessageChannel& channel) {
  sys::wait_readable(channel.socket());
  auto received = channel.receive();
  if (!received) return received.error();
  internal::ToSession message;
  if (received->end || !message.ParseFromString(received->bytes) || !message.has_start()) {
    return input_error("start", "the keeper sent no Start");
  }
  return Arrived{message.start(), message.serial(), std::move(received->descriptors)};
}

/// A member namespace that is the host's own is no middle.
Result<std::optional<UniqueFd>> middle_of(UniqueFd netns) {
  const auto own = sys::open_own_netns();
  if (!own) return own.error();
  const auto host = sys::namespace_inode(*own);
  const auto middle = sys::namespace_inode(netns);
  if (!host) return host.error();
  if (!middle) return middle.error();
  if (*host == *middle) return std::optional<UniqueFd>();
  return std::optional<UniqueFd>(std::move(netns));
}

Status keep(sys::SessionMemory& memory, sys::Kept kind, std::uint64_t key, UniqueFd fd) {
  const auto kept = sys::keep_fd(memory, kind, key, std::move(fd));
  if (!kept) return kept.error();
  return {};
}

/// All that arrived but the middle namespace, which is only looked at.
Status keep_descriptors(sys::SessionMemory& memory, Arrived& arrived) {
  auto& fds = arrived.descriptors;
  const auto ports = static_cast<std::size_t>(arrived.start.ports_size());
  if (fds.size() != 2 + ports) return input_error("start", "wrong number of descriptors");
  if (auto done = keep(memory, sys::Kept::notify, 0, std::move(fds[0])); !done) return done;
  for (std::size_t i = 0; i < ports; ++i) {
    const auto port = internal::port_of(arrived.start.ports(static_cast<int>(i)));
    if (!port) return port.error();
    const auto key = engine::endpoint_key(*port);
    if (auto done = keep(memory, sys::Kept::endpoint, key, std::move(fds[2 + i])); !done)
      return done;
  }
  return keep_start(memory, arrived.start);
}

/// Keeps the container's namespace and the one in the middle, and enters the user namespace that
/// owns the outermost of them.
Status take_place(sys::SessionMemory& memory, UniqueFd container, UniqueFd of_member) {
  auto middle = middle_of(std::move(of_member));
  if (!middle) return middle.error();
  auto userns = sys::open_owner_userns(*middle ? **middle : container);
  if (!userns) return userns.error();
  if (*middle) {
    const auto inside = sys::namespace_inode(container);
    if (!inside) return inside.error();
    const auto outer = sys::namespace_inode(**middle);
    if (!outer) return outer.error();
    // A container that shares the middle namespace has none in between.
    if (*inside != *outer) {
      if (auto done = keep(memory, sys::Kept::middle_netns, 0, std::move(**middle)); !done)
        return done;
    }
  }
  if (auto done = sys::enter_user_namespace(*userns); !done) return done;
  return keep(memory, sys::Kept::container_netns, 0, std::move(container));
}

/// False when the container has ended already.
Result<bool> begin(sys::SessionMemory& memory, Arrived& arrived) {
  if (auto done = keep_descriptors(memory, arrived); !done) return done.error();
  std::optional<UniqueFd> container;
  if (arrived.start.pid() == 0) {
    auto found = wait_for_first_call(memory);
    if (!found) return found.error();
    if (!*found) return false;
    container = std::move(*found);
  } else {
    auto netns = sys::open_netns_of_process(static_cast<pid_t>(arrived.start.pid()));
    if (!netns) return netns.error();
    container = std::move(*netns);
  }
  if (auto done = take_place(memory, std::move(*container), std::move(arrived.descriptors[1]));
      !done) {
    return done.error();
  }
  return true;
}

void tell_failure(const sys::SessionMemory& memory, const Error& error) {
  internal::FromSession message;
  message.set_serial(memory.start_serial);
  message.mutable_failure()->set_code(error.code);
  message.mutable_failure()->set_text(to_string(error));
  (void)sys::send_with_descriptors(sys::kept_fd(memory, sys::Kept::channel, 0),
                                   message.SerializeAsString(), {});
}

/// -1 in the FdRef when the container is gone.
FdRef living_notify(const sys::SessionMemory& memory) {
  for (const auto& kept : memory.kept) {
    const FdRef fd = FdRef::from_number(kept.fd);
    if (kept.kind == sys::Kept::notify && !sys::has_hung_up(fd)) return fd;
  }
  return FdRef::from_number(-1);
}

/// A container can make its engine wait for ever (a page that never comes): once the container is
/// gone, the engine has a moment to end by itself. Nothing: it had to be killed.
Result<std::optional<sys::EngineEnd>> wait_for_end(const sys::SessionMemory& memory, int engine) {
  for (FdRef notify = living_notify(memory); notify.get() >= 0; notify = living_notify(memory)) {
    auto ended = sys::wait_while(engine, notify, -1);
    if (!ended || *ended) return ended;
  }
  auto ended = sys::wait_while(engine, FdRef::from_number(-1), kGraceMs);
  if (!ended || *ended) return ended;
  const auto killed = sys::end_child(engine);
  if (!killed) return killed.error();
  return std::optional<sys::EngineEnd>();
}

}  // namespace

Result<sys::SessionMemory*> prepare() {
  (void)sys::raise_file_limit();
  sys::MessageChannel channel{UniqueFd(kChannel)};
  UniqueFd listener(kListener);
  auto arrived = receive_start(channel);
  if (!arrived) return arrived.error();
  auto mapped = sys::map_session_memory();
  if (!mapped) return mapped.error();
  sys::SessionMemory& memory = **mapped;
  memory.home_userns = sys::own_user_namespace();
  memory.start_serial = arrived->serial;
  sys::make_undumpable();
  // The number stays 3: the channel object gives it up to the table.
  if (auto done = keep(memory, sys::Kept::channel, 0, channel.release()); !done)
    return done.error();
  if (auto done = keep(memory, sys::Kept::channel, 1, std::move(listener)); !done)
    return done.error();
  const auto begun = begin(memory, *arrived);
  if (!begun) {
    give_first_call_back(memory);
    tell_failure(memory, begun.error());
    return begun.error();
  }
  return *begun ? &memory : nullptr;
}

int guard(sys::SessionMemory& memory, const std::function<int(sys::SessionMemory&)>& engine) {
  sys::watch_children();
  for (;;) {
    const auto child = sys::clone_engine([&] { return engine(memory); });
    if (!child) {
      spdlog::error("no engine can be started: {}", to_string(child.error()));
      return 1;
    }
    const auto waited = wait_for_end(memory, *child);
    if (!waited) return 1;
    if (!*waited) return 0;
    const sys::EngineEnd ended = **waited;
    const bool began = memory.start_serial == 0;
    if (ended.by_itself && (ended.status == 0 || !began)) return ended.status;
    ++memory.engine_restarts;
    // One that could not even begin needs something that may come back (memory, descriptors).
    if (ended.by_itself) std::this_thread::sleep_for(kPause);
  }
}

}  // namespace sockhop::session
