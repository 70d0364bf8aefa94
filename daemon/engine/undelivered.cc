#include "engine/undelivered.h"

#include <algorithm>

namespace sockhop::engine {

void keep_undelivered(sys::SessionMemory& memory, const sys::Undelivered& result) {
  auto& all = memory.undelivered;
  auto* place = std::min_element(all.begin(), all.end(),
                                 [](const auto& a, const auto& b) { return a.age < b.age; });
  place->cookie = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const std::uint64_t cookie = result.cookie;
  *place = result;
  place->cookie = 0;
  place->age = ++memory.undelivered_age;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  place->cookie = cookie;
}

std::optional<Return> take_undelivered(sys::SessionMemory& memory, std::uint64_t cookie) {
  for (sys::Undelivered& one : memory.undelivered) {
    if (one.cookie != cookie || one.connection != 0) continue;
    const Return result{one.value, one.error};
    one.cookie = 0;
    one.age = 0;
    return result;
  }
  return std::nullopt;
}

}  // namespace sockhop::engine
