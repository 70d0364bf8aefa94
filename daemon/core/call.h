// A notified system call as a value: what seccomp_data says, typed, for every ABI we list.
#pragma once

#include <array>
#include <cstdint>
#include <variant>

namespace sockhop::core {

/// The part of struct seccomp_data that decides (seccomp_unotify(2)).
struct RawCall {
  std::int32_t number = 0;
  std::uint32_t arch = 0;  // AUDIT_ARCH_*
  std::array<std::uint64_t, 6> args{};
};

/// A range of the caller's memory; nothing has been read from it.
struct RemoteBytes {
  std::uint64_t address = 0;
  std::uint64_t length = 0;  // as the caller said, unchecked
};

struct ConnectCall {
  int fd;
  RemoteBytes name;
};
struct BindCall {
  int fd;
  RemoteBytes name;
};
struct ListenCall {
  int fd;
  int backlog;
};
/// accept and accept4; accept has flags 0. Null pointers are allowed.
struct AcceptCall {
  int fd;
  std::uint64_t name;
  std::uint64_t length_pointer;
  int flags;
};
struct GetsocknameCall {
  int fd;
  std::uint64_t name;
  std::uint64_t length_pointer;
};
struct GetsockoptCall {
  int fd;
  int level;
  int option;
  std::uint64_t value;
  std::uint64_t length_pointer;
};
struct SocketIoctlCall {
  int fd;
  std::uint32_t request;
  std::uint64_t argument;
  bool narrow = false;  // structures of a 32-bit ABI lie there: i386, x32
};
/// sendto, sendmsg, sendmmsg whose flags hold MSG_FASTOPEN.
struct FastOpenCall {
  int fd;
};
struct EpollCreateCall {};
struct LandlockCall {
  int rules;  // descriptor of the rule set; none with flags that only change logging
};
/// i386 socketcall: the arguments lie in the caller's memory as `count` 32-bit words.
struct SocketcallCall {
  int number;
  std::uint64_t arguments;
};
/// Anything else: a foreign profile notified it; the kernel is to run it.
struct OtherCall {
  std::int32_t number;
};

using Call = std::variant<ConnectCall, BindCall, ListenCall, AcceptCall, GetsocknameCall,
                          GetsockoptCall, SocketIoctlCall, FastOpenCall, EpollCreateCall,
                          LandlockCall, SocketcallCall, OtherCall>;

/// Knows x86_64, x32 (number with bit 30 set) and i386; descriptors are the low 32 bits, as the
/// kernel truncates them.
Call decode(const RawCall& raw);

/// Number of 32-bit argument words that socketcall(2) subcall `number` takes; 0 for unknown.
int socketcall_words(int number);
/// The typed call of an i386 socketcall whose words have been read; OtherCall for subcalls that are
/// not ours.
Call decode_socketcall(int number, const std::array<std::uint32_t, 6>& words);

}  // namespace sockhop::core
