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
constexpr nanoseconds kRereadRules = seconds(1);

}  // namespace

std::size_t PathFinder::EndpointHash::operator()(const core::Endpoint& endpoint) const {
  std::uint64_t halves[2];
  static_assert(sizeof halves == sizeof endpoint.address.bytes);
  std::memcpy(halves, endpoint.address.bytes.data(), sizeof halves);
  return ((halves[0] * 31 + halves[1]) * 31 + endpoint.port) * 0x9e3779b97f4a7c15ULL >> 7;
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
  const auto of_destination = [&](const auto& entry) { return entry.first.address == destination; };
  std::erase_if(cache_, of_destination);
  std::erase_if(host_cache_, of_destination);
}

Path PathFinder::find(const core::Endpoint& destination) {
  return remember(cache_, destination, &PathFinder::walk).path;
}

Path PathFinder::find_on_host(const core::Address& destination) {
  return remember(host_cache_, {.address = destination}, &PathFinder::walk_host).path;
}

std::optional<core::HostPath> PathFinder::way_to_own(const core::Address& own) {
  const auto route = places_.host.questions->route(own);
  if (!route || route->kind != core::RouteKind::local || route->address_device == 0) {
    return std::nullopt;
  }
  const auto device = places_.host.questions->device(route->address_device);
  if (!device) return std::nullopt;
  return core::HostPath{device->index, device->name};
}

std::optional<core::Address> PathFinder::container_source(const core::Address& destination) {
  return remember(cache_, {.address = destination}, &PathFinder::walk).container_source;
}

std::vector<PathStep> PathFinder::explain(const core::Endpoint& destination) {
  clear();
  reread_rules();
  PathWalk walk(places_, uplinks_, rules_);
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
    rules_read_at_.reset();
  }
}

void PathFinder::reread_rules() {
  bool changed = false;
  const auto reread = [&](PathPlace& place, core::NamespaceRules& known) {
    auto read = place.questions->filtering(std::move(known));
    changed = changed || !read || read->changed;
    known = read ? std::move(read->rules) : core::NamespaceRules::not_readable();
  };
  rules_.resize(1 + places_.middle.size());
  reread(places_.container, rules_.front());
  for (std::size_t i = 0; i < places_.middle.size(); ++i) reread(places_.middle[i], rules_[i + 1]);
  rules_read_at_ = clock_->now();
  if (!changed) return;
  clear();
  port_matters_ = !std::all_of(rules_.begin(), rules_.end(), core::passes_everything);
}

bool PathFinder::within_budget() {
  const auto now = clock_->now();
  if (now - window_start_ >= kWindow) {
    window_start_ = now;
    window_spent_ = {};
  }
  return window_spent_ < kBudget;
}

// The scope of a link-local address decides nothing: such destinations stay.
core::Endpoint PathFinder::key_of(const core::Endpoint& destination) const {
  return {destination.address, port_matters_ ? destination.port : std::uint16_t{0}, 0};
}

PathFinder::Answer PathFinder::walk(const core::Endpoint& destination) {
  PathWalk walk(places_, uplinks_, rules_);
  Path path = walk.run(destination);
  return {std::move(path), walk.container_source()};
}

PathFinder::Answer PathFinder::walk_host(const core::Endpoint& destination) {
  return {PathWalk(places_, uplinks_, rules_).ask_host(destination.address), std::nullopt};
}

PathFinder::Answer PathFinder::remember(Cache& cache, const core::Endpoint& destination, Ask ask) {
  drop_stale();
  const bool rules_are_old = !rules_read_at_ || clock_->now() - *rules_read_at_ >= kRereadRules;
  if (!rules_are_old) {
    const auto known = cache.find(key_of(destination));
    if (known != cache.end()) return known->second;
  }
  if (!within_budget()) return {core::Reason::over_budget, std::nullopt};
  const auto before = clock_->thread_cpu();
  if (rules_are_old) reread_rules();
  const auto known = cache.find(key_of(destination));
  const Answer answer = known != cache.end() ? known->second : (this->*ask)(destination);
  window_spent_ += clock_->thread_cpu() - before;
  // An error is not an answer: it is asked again.
  const auto* reason = std::get_if<core::Reason>(&answer.path);
  if (reason != nullptr && *reason == core::Reason::daemon_error) return answer;
  if (cache.size() >= kMaxCached) cache.clear();
  cache.insert_or_assign(key_of(destination), answer);
  return answer;
}

}  // namespace sockhop::engine
