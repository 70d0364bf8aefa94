#include "engine/relay.h"

#include <sys/epoll.h>

#include <algorithm>
#include <set>
#include <utility>

#include "sys/relay_thread.h"
#include "sys/splice.h"

namespace sockhop::engine {
namespace {

// Parts of a relayed connection in the table of kept descriptors: id * 8 + part.
enum Part : std::uint64_t { kNear, kHost, kUpOut, kUpIn, kDownOut, kDownIn };
constexpr std::uint64_t kStride = 8;
constexpr std::uint64_t kWork = 0;  // no connection has this id
constexpr int kMaxTurns = 32;
constexpr std::uint32_t kEvents = EPOLLIN | EPOLLOUT | EPOLLRDHUP;

std::uint64_t key_of(std::uint64_t id, Part part) { return id * kStride + part; }

}  // namespace

Result<std::unique_ptr<Relay>> Relay::open(sys::SessionMemory& memory) {
  auto edges = sys::EdgeSet::open();
  if (!edges) return edges.error();
  auto work = sys::Doorbell::open();
  if (!work) return work.error();
  auto finished = sys::Doorbell::open();
  if (!finished) return finished.error();
  std::unique_ptr<Relay> self(
      new Relay(memory, std::move(*edges), std::move(*work), std::move(*finished)));
  if (auto watched = self->edges_.watch(self->work_bell_.fd(), EPOLLIN, kWork); !watched) {
    return watched.error();
  }
  self->adopt();
  return self;
}

Relay::~Relay() {
  stop_ = true;
  work_bell_.ring();
  if (thread_.joinable()) thread_.join();
}

void Relay::adopt() {
  std::set<std::uint64_t> ids;
  for (const auto& kept : memory_.kept) {
    if (kept.kind == sys::Kept::relay) ids.insert(kept.key / kStride);
  }
  for (const std::uint64_t id : ids) {
    next_ = std::max(next_, id + 1);
    const int host = sys::kept_fd(memory_, sys::Kept::relay, key_of(id, kHost)).get();
    const auto parts =
        std::count_if(memory_.kept.begin(), memory_.kept.end(), [id](const sys::KeptFd& kept) {
          return kept.kind == sys::Kept::relay && kept.key / kStride == id;
        });
    // The host's side is written last, and the slot gives it away after that. Parts are missing too
    // when the engine died while it closed a connection that had ended.
    if (parts != kDownIn + 1 || sys::is_in_slot(memory_, host)) {
      drop(id, host);
      continue;
    }
    ++count_;
    begin(id);
  }
}

void Relay::drop(std::uint64_t id, int except) {
  for (auto& kept : memory_.kept) {
    if (kept.kind != sys::Kept::relay || kept.key / kStride != id) continue;
    kept.kind = sys::Kept::none;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (kept.fd != except) UniqueFd(kept.fd).reset();
  }
}

Status Relay::keep(std::uint64_t id, UniqueFd near, int host) {
  auto up = sys::make_pipe();
  if (!up) return up.error();
  auto down = sys::make_pipe();
  if (!down) return down.error();
  std::pair<Part, UniqueFd> parts[] = {{kNear, std::move(near)},
                                       {kUpOut, std::move((*up)[0])},
                                       {kUpIn, std::move((*up)[1])},
                                       {kDownOut, std::move((*down)[0])},
                                       {kDownIn, std::move((*down)[1])}};
  for (auto& [part, fd] : parts) {
    const auto kept = sys::keep_fd(memory_, sys::Kept::relay, key_of(id, part), std::move(fd));
    if (!kept) return kept.error();
  }
  const auto free = std::any_of(memory_.kept.begin(), memory_.kept.end(),
                                [](const auto& kept) { return kept.kind == sys::Kept::none; });
  if (!free) return Error{ENFILE, "session table", "full"};
  (void)sys::keep_fd(memory_, sys::Kept::relay, key_of(id, kHost), UniqueFd(host));
  return {};
}

Status Relay::add(UniqueFd near, UniqueFd handed, sys::CallSlot& slot) {
  if (count_ >= kMaxFlows) return Error{ENFILE, "relay", "full"};
  const std::uint64_t id = next_++;
  if (auto kept = keep(id, std::move(near), slot.host_fd); !kept) {
    drop(id, slot.host_fd);
    return kept;
  }
  slot.host_fd = handed.release();
  ++count_;
  begin(id);
  return {};
}

void Relay::begin(std::uint64_t id) {
  const auto part = [&](Part one) {
    return sys::kept_fd(memory_, sys::Kept::relay, key_of(id, one)).get();
  };
  Flow flow;
  flow.up = {part(kNear), part(kHost), part(kUpOut), part(kUpIn)};
  flow.down = {part(kHost), part(kNear), part(kDownOut), part(kDownIn)};
  const FdRef near = FdRef::from_number(flow.up.from);
  const FdRef host = FdRef::from_number(flow.down.from);
  {
    const std::lock_guard lock(mutex_);
    flows_[id] = flow;
  }
  // Each tells at once what is there already.
  (void)edges_.watch(near, kEvents, id);
  (void)edges_.watch(host, kEvents, id);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

void Relay::run() {
  sys::block_broken_pipe_signal();
  while (!stop_) {
    std::set<std::uint64_t> ids(more_.begin(), more_.end());
    more_.clear();
    for (const auto& event : edges_.take(ids.empty() ? -1 : 0)) {
      if (event.key == kWork) {
        work_bell_.clear();
      } else {
        ids.insert(event.key);
      }
    }
    for (const std::uint64_t id : ids) serve(id);
  }
}

void Relay::serve(std::uint64_t id) {
  Flow* flow = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = flows_.find(id);
    if (found == flows_.end()) return;
    flow = &found->second;
  }
  const Pumped up = pump(flow->up);
  const Pumped down = pump(flow->down);
  const bool broken = up == Pumped::broken || down == Pumped::broken;
  if (!broken && !(flow->up.told && flow->down.told)) {
    if (up == Pumped::more || down == Pumped::more) more_.push_back(id);
    return;
  }
  if (broken) {
    sys::reset_on_close(FdRef::from_number(flow->up.from));
    sys::reset_on_close(FdRef::from_number(flow->down.from));
  }
  (void)edges_.forget(FdRef::from_number(flow->up.from));
  (void)edges_.forget(FdRef::from_number(flow->down.from));
  const std::lock_guard lock(mutex_);
  flows_.erase(id);
  done_.push_back(id);
  finished_bell_.ring();
}

Relay::Pumped Relay::pump(Direction& way) {
  if (way.told) return Pumped::idle;
  for (int turn = 0; turn < kMaxTurns; ++turn) {
    bool moved = false;
    if (!way.ended) {
      const auto in =
          sys::splice_some(FdRef::from_number(way.from), FdRef::from_number(way.pipe_in));
      if (!in && in.error().code != EAGAIN) return Pumped::broken;
      way.ended = in && *in == 0;
      moved = in && *in > 0;
    }
    const bool waits = sys::bytes_in(FdRef::from_number(way.pipe_out)) > 0;
    if (!waits && way.ended) {
      way.told = true;
      (void)sys::shut_down_writing(FdRef::from_number(way.to));
      return Pumped::idle;
    }
    if (waits) {
      const auto out =
          sys::splice_some(FdRef::from_number(way.pipe_out), FdRef::from_number(way.to));
      if (!out && out.error().code != EAGAIN) return Pumped::broken;
      moved = moved || (out && *out > 0);
    }
    if (!moved) return Pumped::idle;
  }
  return Pumped::more;
}

void Relay::reap() {
  finished_bell_.clear();
  std::vector<std::uint64_t> done;
  {
    const std::lock_guard lock(mutex_);
    done.swap(done_);
  }
  for (const std::uint64_t id : done) {
    drop(id, -1);
    --count_;
  }
}

}  // namespace sockhop::engine
