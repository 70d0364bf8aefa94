#include "engine/restrictions.h"

#include "core/lineage.h"
#include "sys/process_facts.h"

namespace sockhop::engine {
namespace {

std::optional<core::ThreadFacts> look_up(std::int32_t id) {
  const auto facts = sys::read_thread_facts(id);
  return facts ? std::optional(*facts) : std::nullopt;
}

}  // namespace

void note_restriction(sys::SessionMemory& memory, ActiveCall& call, std::int32_t rules) {
  // Another descriptor may be there by the time the kernel looks; whoever arranges that could as
  // well not restrict itself.
  const auto file = call.tracee->borrow(rules);
  if (file ? !sys::is_landlock_ruleset(*file) : file.error().code == EBADF) return;
  const auto now = sys::ticks_since_boot();
  const auto caller = sys::read_thread_facts(call.notification.thread);
  if (!call.still_waiting()) return;
  if (!caller) {
    // Out of sight: then nobody can be told from it.
    memory.restrictions.everybody = 1;
    memory.restrictions.some_without = 1;
    if (memory.restrictions.since == 0) memory.restrictions.since = now;
    return;
  }
  if (!core::can_restrict(*caller)) return;
  core::note_restriction(memory.restrictions, *caller, now, look_up);
}

bool may_be_restricted(const sys::SessionMemory& memory, const ActiveCall& call) {
  if (memory.restrictions.since == 0) return false;
  const auto caller = sys::read_thread_facts(call.notification.thread);
  // Of a caller that is gone these may be somebody else's facts, but then its answer is lost too.
  return !caller || core::may_be_restricted(memory.restrictions, *caller, look_up);
}

}  // namespace sockhop::engine
