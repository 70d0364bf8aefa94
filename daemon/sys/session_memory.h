// The memory that outlives an engine: shared by a guard and each engine it clones.
//
// Everything here is plain data at fixed places, because an engine may be killed between any two
// instructions and the next one reads what it left. Two rules make that enough:
//   * a slot is zeroed before it is used again, and the kernel itself writes a notification into it
//     before NOTIF_RECV returns, so a received call is never unknown;
//   * what cannot be asked of the kernel again is written before the first change, the stage last.
// Descriptors live in the guard's table; one that no slot and no kept entry names is closed by the
// next engine.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "core/endpoint.h"
#include "core/epoll_info.h"
#include "core/lineage.h"
#include "sys/notify_fd.h"

namespace sockhop::sys {

inline constexpr std::size_t kMaxSlots = 2048;
inline constexpr std::size_t kMaxCarried = 8;  // epoll registrations of one socket
inline constexpr std::size_t kMaxKept = 2048;  // a relayed connection takes six
inline constexpr std::size_t kMaxUndelivered = 256;
inline constexpr std::size_t kMaxReasons = 64;
inline constexpr std::size_t kMaxPorts = 240;  // a registration has no more

/// How far a call has come. The comment says what is true once the stage is written.
enum class CallStage : std::uint32_t {
  idle,        // free, or received and nothing changed
  reaching,    // strict: the host socket, which nobody else has, is on its way; host_fd is open
  prepared,    // destination, cookies and registrations are complete; host_fd and original_fd are
               // open
  installed,   // the host socket is over the caller's descriptor
  connecting,  // every reference hops; the connection may have been started
  waiting,     // a blocking caller waits for the connection
  restoring,   // a socket of the container is about to take the place of the host socket
  accepting,   // a blocking caller waits in accept
  taking,      // an open TCP connection that nobody names was taken out of a queue for this call
  delivering,  // an accepted connection is about to be installed in the caller
  answering,   // the result is known
};

/// An epoll registration of a socket that hops: the set is a descriptor of the caller.
struct CarriedRegistration {
  std::int32_t set = -1;
  std::int32_t number = -1;
  std::uint32_t events = 0;
  std::uint64_t data = 0;
};

/// One notified call. The calling thread's notification lies in `room`.
struct CallSlot {
  alignas(8) std::array<std::byte, kNotificationRoom> room;
  CallStage stage;
  std::int32_t notify_fd;     // number in the guard's table
  std::uint32_t resumed;      // engines that died with this call
  std::uint32_t asked;        // the result of the connection may have been taken already
  std::int32_t fd;            // the caller's number
  std::int32_t family;        // of the socket
  std::int32_t device;        // of the leash
  std::int32_t status_flags;  // O_NONBLOCK | O_ASYNC, as the application set them
  std::int32_t close_on_exec;
  std::uint8_t reuse;    // sys::reuse_of the caller's socket
  std::uint32_t hopped;  // to be counted once when the call is answered
  std::uint32_t reason;  // core::Reason that the answer is counted under
  core::Endpoint destination;
  std::uint64_t original_cookie;
  std::uint64_t original_inode;
  std::uint64_t host_cookie;
  std::uint64_t fresh_cookie;                        // of the socket that restores
  std::int32_t host_fd;                              // -1 when none
  std::int32_t original_fd;                          // -1 when none
  std::array<std::int32_t, kMaxCarried> duplicates;  // other numbers of the caller that hop too
  std::uint32_t duplicate_count;
  std::uint32_t carried_count;
  std::array<CarriedRegistration, kMaxCarried> carried;
  std::uint32_t unblocked;       // accept: the listener is non-blocking for the moment of a call
  std::uint64_t name_pointer;    // accept: where the caller wants the peer's name
  std::uint64_t length_pointer;  // and its length
  std::int64_t deadline;         // CLOCK_MONOTONIC ns; 0 when the caller waits for ever
  std::int32_t timeout_error;    // connect: errno of the deadline
  std::int64_t value;            // result of the call
  std::int32_t error;            // errno of the call, 0 when it succeeds
};

/// A result that its caller could not be told, because a signal came between; the kernel restarts
/// the call and finds it here.
struct Undelivered {
  std::uint64_t cookie;  // of the socket on the caller's descriptor; 0 when free
  std::uint64_t caller;  // Tracee::identity of the thread; for accepted connections only
  std::int64_t value;
  std::int32_t error;
  std::uint32_t age;         // sequence number: the oldest is overwritten
  std::uint64_t connection;  // accept: cookie of the connection that sits at `value`
};

enum class Kept : std::uint32_t {
  none,
  channel,
  notify,
  container_netns,
  middle_netns,
  start,
  endpoint,
  accepted,  // taken out of a queue, not handed over yet
  bell,
  relay
};

struct KeptFd {
  Kept kind;
  std::int32_t fd;
  std::uint64_t key;  // of the owner's choice: a port, a row
};

struct PortCounters {
  std::uint64_t injected;
  std::uint64_t relayed;
};

struct SessionMemory {
  std::array<CallSlot, kMaxSlots> slots;
  std::uint32_t used_slots;  // slots from here on were never used: their pages are untouched
  std::array<Undelivered, kMaxUndelivered> undelivered;
  std::uint32_t undelivered_age;
  std::array<KeptFd, kMaxKept> kept;
  std::int32_t guard_pid;
  std::uint64_t home_userns;   // st_ino of the keeper's user namespace
  std::uint64_t start_serial;  // of the request that began the session; 0 once it is answered
  std::uint64_t engine_restarts;
  std::uint64_t hops;
  std::uint64_t calls;
  std::array<std::uint64_t, kMaxReasons> stays;
  std::array<PortCounters, kMaxPorts> ports;
  core::Restrictions restrictions;
};

/// Maps zeroed memory that a clone shares. Lives as long as the process.
Result<SessionMemory*> map_session_memory();

/// Hands a descriptor to the table that outlives this engine. ENFILE when the table is full.
Result<FdRef> keep_fd(SessionMemory& memory, Kept kind, std::uint64_t key, UniqueFd fd);
/// Closes a kept descriptor; nothing when there is none.
void drop_kept(SessionMemory& memory, Kept kind, std::uint64_t key);
/// -1 in the FdRef when there is none.
FdRef kept_fd(const SessionMemory& memory, Kept kind, std::uint64_t key);

/// Does the slot of a call that is in work name the descriptor?
bool is_in_slot(const SessionMemory& memory, int fd);
/// Does a slot or a kept entry name the descriptor?
bool is_named(const SessionMemory& memory, int fd);

/// Closes every descriptor from 3 on that nothing in `memory` names: what a dead engine had open.
Status close_unnamed(const SessionMemory& memory);

}  // namespace sockhop::sys
