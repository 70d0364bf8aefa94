#include "core/call.h"

#include <linux/audit.h>
#include <sys/socket.h>

#include <algorithm>
#include <span>

namespace sockhop::core {
namespace {

/// Which of our calls a number means, whatever the ABI.
enum class Kind {
  other,
  connect,
  bind,
  listen,
  accept,
  accept4,
  getsockname,
  getsockopt,
  ioctl,
  send,
  sendto,
  sendmsg,
  sendmmsg,
  epoll_create,
  landlock_restrict_self,
  socketcall,
};

struct Number {
  int number;
  Kind kind;
};

constexpr std::uint32_t kX32Bit = 0x40000000;  // __X32_SYSCALL_BIT, asm/unistd.h

// Numbers are the kernel's syscall_64.tbl and syscall_32.tbl: the headers of a build name one ABI.
constexpr Number kX86_64[] = {
    {16, Kind::ioctl},      {42, Kind::connect},
    {43, Kind::accept},     {44, Kind::sendto},
    {46, Kind::sendmsg},    {49, Kind::bind},
    {50, Kind::listen},     {51, Kind::getsockname},
    {55, Kind::getsockopt}, {213, Kind::epoll_create},
    {288, Kind::accept4},   {291, Kind::epoll_create},
    {307, Kind::sendmmsg},  {446, Kind::landlock_restrict_self},
};

// Calls whose structures differ have numbers of their own from 512 on; the kernel has no x32 call
// at their x86_64 numbers.
constexpr Number kX32[] = {
    {42, Kind::connect},       {43, Kind::accept},
    {44, Kind::sendto},        {49, Kind::bind},
    {50, Kind::listen},        {51, Kind::getsockname},
    {213, Kind::epoll_create}, {288, Kind::accept4},
    {291, Kind::epoll_create}, {446, Kind::landlock_restrict_self},
    {514, Kind::ioctl},        {518, Kind::sendmsg},
    {538, Kind::sendmmsg},     {542, Kind::getsockopt},
};

constexpr Number kI386[] = {
    {54, Kind::ioctl},         {102, Kind::socketcall},
    {254, Kind::epoll_create}, {329, Kind::epoll_create},
    {345, Kind::sendmmsg},     {361, Kind::bind},
    {362, Kind::connect},      {363, Kind::listen},
    {364, Kind::accept4},      {365, Kind::getsockopt},
    {367, Kind::getsockname},  {369, Kind::sendto},
    {370, Kind::sendmsg},      {446, Kind::landlock_restrict_self},
};

// linux/net.h: SYS_*.
constexpr Number kSocketcall[] = {
    {2, Kind::bind},        {3, Kind::connect},  {4, Kind::listen},    {5, Kind::accept},
    {6, Kind::getsockname}, {9, Kind::send},     {11, Kind::sendto},   {15, Kind::getsockopt},
    {16, Kind::sendmsg},    {18, Kind::accept4}, {20, Kind::sendmmsg},
};

Kind find(std::span<const Number> table, int number) {
  const auto found = std::ranges::find(table, number, &Number::number);
  return found == table.end() ? Kind::other : found->kind;
}

using Args = std::array<std::uint64_t, 6>;

int low32(std::uint64_t value) { return static_cast<int>(static_cast<std::uint32_t>(value)); }

RemoteBytes name_at(const Args& args) { return {args[1], static_cast<std::uint32_t>(args[2])}; }

// The scalar that the notify rules look at (linux/sockios.h: 0x8900 to 0x89ff are socket requests).
Call ioctl_call(const Args& args, OtherCall other) {
  const auto request = static_cast<std::uint32_t>(args[1]);
  if ((request & 0xffffff00) != 0x8900) return other;
  return SocketIoctlCall{low32(args[0]), request, args[2]};
}

Call getsockopt_call(const Args& args, OtherCall other) {
  constexpr int kBindToIfindex = 62;  // SO_BINDTOIFINDEX, Linux 5.0
  const int level = low32(args[1]);
  const int option = low32(args[2]);
  const bool names_device = option == SO_BINDTODEVICE || option == kBindToIfindex;
  if (level != SOL_SOCKET || !names_device) return other;
  return GetsockoptCall{low32(args[0]), level, option, args[3], args[4]};
}

Call send_call(const Args& args, std::uint64_t flags, OtherCall other) {
  if ((flags & MSG_FASTOPEN) == 0) return other;
  return FastOpenCall{low32(args[0])};
}

Call typed(Kind kind, const Args& args, OtherCall other) {
  const int fd = low32(args[0]);
  switch (kind) {
    case Kind::other:
      return other;
    case Kind::connect:
      return ConnectCall{fd, name_at(args)};
    case Kind::bind:
      return BindCall{fd, name_at(args)};
    case Kind::listen:
      return ListenCall{fd, low32(args[1])};
    case Kind::accept:
      return AcceptCall{fd, args[1], args[2], 0};
    case Kind::accept4:
      return AcceptCall{fd, args[1], args[2], low32(args[3])};
    case Kind::getsockname:
      return GetsocknameCall{fd, args[1], args[2]};
    case Kind::getsockopt:
      return getsockopt_call(args, other);
    case Kind::ioctl:
      return ioctl_call(args, other);
    case Kind::sendmsg:
      return send_call(args, args[2], other);
    case Kind::send:
    case Kind::sendto:
    case Kind::sendmmsg:
      return send_call(args, args[3], other);
    case Kind::epoll_create:
      return EpollCreateCall{};
    case Kind::landlock_restrict_self:
      return LandlockCall{fd};
    case Kind::socketcall:
      return SocketcallCall{fd, args[1]};
  }
  return other;
}

/// Pointers and longs in the caller's structures have 32 bits (compat_ioctl).
Call narrowed(Call call) {
  if (auto* ioctl = std::get_if<SocketIoctlCall>(&call)) ioctl->narrow = true;
  return call;
}

}  // namespace

Call decode(const RawCall& raw) {
  const OtherCall other{raw.number};
  if (raw.arch == AUDIT_ARCH_I386) {
    Args args = raw.args;
    for (auto& arg : args) arg = static_cast<std::uint32_t>(arg);
    return narrowed(typed(find(kI386, raw.number), args, other));
  }
  if (raw.arch != AUDIT_ARCH_X86_64) return other;
  const auto number = static_cast<std::uint32_t>(raw.number);
  if ((number & kX32Bit) == 0) return typed(find(kX86_64, raw.number), raw.args, other);
  return narrowed(typed(find(kX32, static_cast<int>(number & ~kX32Bit)), raw.args, other));
}

int socketcall_words(int number) {
  // net/socket.c, nargs[]; index 0 is no call.
  static constexpr std::array<int, 21> kWords{0, 3, 3, 3, 2, 3, 3, 3, 4, 4, 4,
                                              6, 6, 2, 5, 5, 3, 3, 4, 5, 4};
  if (number < 0 || number >= static_cast<int>(kWords.size())) return 0;
  return kWords[static_cast<std::size_t>(number)];
}

Call decode_socketcall(int number, const std::array<std::uint32_t, 6>& words) {
  Args args{};
  std::ranges::copy(words, args.begin());
  return typed(find(kSocketcall, number), args, OtherCall{number});
}

}  // namespace sockhop::core
