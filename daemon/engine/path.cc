#include "engine/path.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/path_walk.h"

namespace sockhop::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr nanoseconds kWindow = seconds(1);
constexpr nanoseconds kBudget = milliseconds(50);
constexpr nanoseconds kRereadFiltering = seconds(1);

}  // namespace

std::size_t PathFinder::AddressHash::operator()(const core::Address& address) const {
  std::uint64_t halves[2];
  static_assert(sizeof halves == sizeof address.bytes);
  std::memcpy(halves, address.bytes.data(), sizeof halves);
  return (halves[0] * 31 + halves[1]) * 0x9e3779b97f4a7c15ULL >> 7;
}

PathFinder::PathFinder(PathPlaces places, std::vector<core::Uplink> uplinks,
                       std::unique_ptr<sys::CpuClock> clock)
    : places_(std::move(places)), uplinks_(std::move(uplinks)), clock_(std::move(clock)) {}

PathFinder::~PathFinder() = default;

void PathFinder::set_uplinks(std::vector<core::Uplink> uplinks) {
  uplinks_ = std::move(uplinks);
  clear();
}

void PathFinder::clear() {
  cache_.clear();
  host_cache_.clear();
}

void PathFinder::forget(const core::Address& destination) {
  cache_.erase(destination);
  host_cache_.erase(destination);
}

Path PathFinder::find(const core::Address& destination) {
  return remember(cache_, destination, &PathFinder::walk).path;
}

Path PathFinder::find_on_host(const core::Address& destination) {
  return remember(host_cache_, destination, &PathFinder::walk_host).path;
}

std::optional<core::Address> PathFinder::container_source(const core::Address& destination) {
  return remember(cache_, destination, &PathFinder::walk).container_source;
}

std::vector<PathStep> PathFinder::explain(const core::Address& destination) {
  clear();
  reread_filtering();
  PathWalk walk(places_, uplinks_, filtering_);
  walk.run(destination);
  return walk.steps();
}

// All watches are drained, also when the first one already told of a change: an event that is left
// would spoil the answers which are asked next.
void PathFinder::drop_stale() {
  bool changed = places_.container.questions->changed();
  for (auto& place : places_.middle) changed = place.questions->changed() || changed;
  changed = places_.host.questions->changed() || changed;
  if (changed) {
    clear();
    filtering_read_at_.reset();
  }
}

void PathFinder::reread_filtering() {
  const auto read = [](PathPlace& place) {
    const auto filtering = place.questions->filtering();
    return filtering ? *filtering : core::Filtering::unknown;
  };
  std::vector<core::Filtering> now{read(places_.container)};
  for (auto& place : places_.middle) now.push_back(read(place));
  if (now != filtering_) clear();
  filtering_ = std::move(now);
  filtering_read_at_ = clock_->now();
}

bool PathFinder::within_budget() {
  const auto now = clock_->now();
  if (now - window_start_ >= kWindow) {
    window_start_ = now;
    window_spent_ = {};
  }
  return window_spent_ < kBudget;
}

PathFinder::Answer PathFinder::walk(const core::Address& destination) {
  PathWalk walk(places_, uplinks_, filtering_);
  Path path = walk.run(destination);
  return {std::move(path), walk.container_source()};
}

PathFinder::Answer PathFinder::walk_host(const core::Address& destination) {
  return {PathWalk(places_, uplinks_, filtering_).ask_host(destination), std::nullopt};
}

PathFinder::Answer PathFinder::remember(Cache& cache, const core::Address& destination, Ask ask) {
  drop_stale();
  const bool filtering_is_old =
      !filtering_read_at_ || clock_->now() - *filtering_read_at_ >= kRereadFiltering;
  if (!filtering_is_old) {
    const auto known = cache.find(destination);
    if (known != cache.end()) return known->second;
  }
  if (!within_budget()) return {core::Reason::over_budget, std::nullopt};
  const auto before = clock_->thread_cpu();
  if (filtering_is_old) reread_filtering();
  const auto known = cache.find(destination);
  const Answer answer = known != cache.end() ? known->second : (this->*ask)(destination);
  window_spent_ += clock_->thread_cpu() - before;
  // An error is not an answer: it is asked again.
  const auto* reason = std::get_if<core::Reason>(&answer.path);
  if (reason != nullptr && *reason == core::Reason::daemon_error) return answer;
  if (cache.size() >= kMaxCached) cache.clear();
  cache.insert_or_assign(destination, answer);
  return answer;
}

}  // namespace sockhop::engine
