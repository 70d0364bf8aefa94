// Who may be under a Landlock domain: a thread that called landlock_restrict_self, its process, and
// all that came of it later.
//
// The kernel tells nobody whether a thread has a domain (Linux 6.18), so it is inferred from what a
// domain and these facts have in common:
//   - A domain comes by the call or by birth. A process that is older than the first call and did
//     not make it has none.
//   - no_new_privs comes the same ways and never goes (prctl(2)). Where every caller had it, a
//     thread without it has no domain.
//   - The parent of a process is its creator, or an ancestor of its creator (clone(2),
//   CLONE_PARENT;
//     orphans go to an ancestor, or to the first process of their pid namespace). So a child of
//     somebody who was no ancestor of a caller has what its parent has.
// What these cannot show to be free counts as restricted.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace sockhop::core {

/// Names a process: its id may be used again, not with the same start.
struct ProcessName {
  std::int32_t id = 0;
  std::uint64_t start = 0;  // clock ticks since boot (field 22 of proc_pid_stat(5))
  friend bool operator==(const ProcessName&, const ProcessName&) = default;
};

/// What /proc tells of a thread and its process.
struct ThreadFacts {
  ProcessName process;
  std::int32_t parent = 0;        // process id; 0 when it is out of sight
  bool begins_namespace = false;  // the first process of a pid namespace
  bool no_new_privs = false;      // of the thread
  bool is_admin = false;          // of the thread: CAP_SYS_ADMIN in its user namespace
};

/// The process (thread group) in /proc/TID/status.
std::optional<std::int32_t> process_in_status(std::string_view status);

/// `status`: /proc/TID/status of the thread; `stat`: /proc/PID/stat of its process. The name of the
/// process in it is of its own choice.
std::optional<ThreadFacts> parse_thread_facts(std::string_view status, std::string_view stat);

/// Of the process with that id; nothing when there is none or it cannot be seen.
using ProcessLookup = std::function<std::optional<ThreadFacts>(std::int32_t id)>;

inline constexpr std::size_t kMaxRelatives = 256;

/// Passive data of fixed size: it outlives an engine. Zeroed: nobody is restricted.
struct Restrictions {
  std::uint64_t since;         // ticks of the first call; 0 when there was none
  std::uint32_t some_without;  // a caller did not have no_new_privs
  std::uint32_t everybody;     // too many relatives: nobody younger can be told apart
  std::uint32_t count;
  struct Relative {
    ProcessName process;  // start 0: any, it could not be seen
    std::uint32_t restricted;
  };
  /// Callers, and the ancestors that they had at that time.
  std::array<Relative, kMaxRelatives> relatives;
};

/// Can the call succeed? It takes a right to it (landlock_restrict_self(2), EPERM).
bool can_restrict(const ThreadFacts& caller);

/// To be called before the call takes effect, at `now` in ticks since boot.
void note_restriction(Restrictions& all, const ThreadFacts& caller, std::uint64_t now,
                      const ProcessLookup& lookup);

/// False when the thread is shown to have no domain.
bool may_be_restricted(const Restrictions& all, const ThreadFacts& thread,
                       const ProcessLookup& lookup);

}  // namespace sockhop::core
