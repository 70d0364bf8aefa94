// Who a thread is, for the question whose domain it may have inherited.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/unique_fd.h"
#include "core/lineage.h"

namespace sockhop::sys {

/// Of the thread with that id, or of a process by its own.
Result<core::ThreadFacts> read_thread_facts(std::int32_t thread);

/// The clock of ProcessName::start, now.
std::uint64_t ticks_since_boot();

/// Is it what landlock_create_ruleset(2) gives?
bool is_landlock_ruleset(FdRef fd);

}  // namespace sockhop::sys
