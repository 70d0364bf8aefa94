#include "core/call.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <sys/socket.h>

#include <string>

namespace sockhop::core {
namespace {

constexpr int kX32 = 0x40000000;
constexpr std::uint64_t kFastOpen = MSG_FASTOPEN;

struct Tell {
  static std::string list(std::initializer_list<std::uint64_t> values) {
    std::string text;
    for (const auto value : values) text += " " + std::to_string(static_cast<std::int64_t>(value));
    return text;
  }
  static std::uint64_t wide(int value) { return static_cast<std::uint64_t>(std::int64_t{value}); }

  std::string operator()(const ConnectCall& c) const {
    return "connect" + list({wide(c.fd), c.name.address, c.name.length});
  }
  std::string operator()(const BindCall& c) const {
    return "bind" + list({wide(c.fd), c.name.address, c.name.length});
  }
  std::string operator()(const ListenCall& c) const {
    return "listen" + list({wide(c.fd), wide(c.backlog)});
  }
  std::string operator()(const AcceptCall& c) const {
    return "accept" + list({wide(c.fd), c.name, c.length_pointer, wide(c.flags)});
  }
  std::string operator()(const GetsocknameCall& c) const {
    return "getsockname" + list({wide(c.fd), c.name, c.length_pointer});
  }
  std::string operator()(const GetsockoptCall& c) const {
    return "getsockopt" +
           list({wide(c.fd), wide(c.level), wide(c.option), c.value, c.length_pointer});
  }
  std::string operator()(const SocketIoctlCall& c) const {
    return (c.narrow ? "narrow ioctl" : "ioctl") + list({wide(c.fd), c.request, c.argument});
  }
  std::string operator()(const FastOpenCall& c) const { return "fastopen" + list({wide(c.fd)}); }
  std::string operator()(const EpollCreateCall&) const { return "epoll_create"; }
  std::string operator()(const LandlockCall&) const { return "landlock"; }
  std::string operator()(const SocketcallCall& c) const {
    return "socketcall" + list({wide(c.number), c.arguments});
  }
  std::string operator()(const OtherCall& c) const { return "other" + list({wide(c.number)}); }
};

std::string told(const Call& call) { return std::visit(Tell{}, call); }

struct Row {
  std::int32_t number;
  std::array<std::uint64_t, 6> args;
  std::string want;
};

void expect_rows(std::uint32_t arch, std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(told(decode({row.number, arch, row.args})), row.want) << "number " << row.number;
  }
}

TEST(Decode, KnowsTheCallsOfX86_64) {
  expect_rows(AUDIT_ARCH_X86_64,
              {{42, {3, 0x1000, 16}, "connect 3 4096 16"},
               {49, {3, 0x1000, 16}, "bind 3 4096 16"},
               {50, {3, 128}, "listen 3 128"},
               {43, {3, 0x1000, 0x2000, 99}, "accept 3 4096 8192 0"},
               {43, {3, 0, 0}, "accept 3 0 0 0"},
               {288, {3, 0x1000, 0x2000, SOCK_NONBLOCK}, "accept 3 4096 8192 2048"},
               {51, {3, 0x1000, 0x2000}, "getsockname 3 4096 8192"},
               {55, {3, 1, 25, 0x1000, 0x2000}, "getsockopt 3 1 25 4096 8192"},
               {16, {3, 0x8912, 0x1000}, "ioctl 3 35090 4096"},
               {44, {3, 1, 2, kFastOpen}, "fastopen 3"},
               {46, {3, 1, kFastOpen}, "fastopen 3"},
               {307, {3, 1, 2, kFastOpen}, "fastopen 3"},
               {213, {1}, "epoll_create"},
               {291, {0}, "epoll_create"},
               {446, {5, 0}, "landlock"}});
}

TEST(Decode, KnowsTheCallsOfX32WithTheirOwnNumbers) {
  expect_rows(AUDIT_ARCH_X86_64, {{kX32 | 42, {3, 0x1000, 16}, "connect 3 4096 16"},
                                  {kX32 | 49, {3, 0x1000, 16}, "bind 3 4096 16"},
                                  {kX32 | 50, {3, 128}, "listen 3 128"},
                                  {kX32 | 43, {3, 1, 2, 99}, "accept 3 1 2 0"},
                                  {kX32 | 288, {3, 1, 2, 4}, "accept 3 1 2 4"},
                                  {kX32 | 51, {3, 1, 2}, "getsockname 3 1 2"},
                                  {kX32 | 542, {3, 1, 62, 1, 2}, "getsockopt 3 1 62 1 2"},
                                  {kX32 | 514, {3, 0x8910, 9}, "narrow ioctl 3 35088 9"},
                                  {kX32 | 44, {3, 1, 2, kFastOpen}, "fastopen 3"},
                                  {kX32 | 518, {3, 1, kFastOpen}, "fastopen 3"},
                                  {kX32 | 538, {3, 1, 2, kFastOpen}, "fastopen 3"},
                                  {kX32 | 213, {}, "epoll_create"},
                                  {kX32 | 291, {}, "epoll_create"},
                                  {kX32 | 446, {}, "landlock"}});
}

TEST(Decode, DoesNotMixTheNumbersOfX32AndX86_64) {
  expect_rows(AUDIT_ARCH_X86_64, {{514, {3, 0x8910}, "other 514"},
                                  {518, {3, 1, kFastOpen}, "other 518"},
                                  {542, {3, 1, 25}, "other 542"},
                                  {kX32 | 16, {3, 0x8910}, "other 1073741840"},
                                  {kX32 | 46, {3, 1, kFastOpen}, "other 1073741870"},
                                  {kX32 | 55, {3, 1, 25}, "other 1073741879"},
                                  {kX32 | 307, {3, 1, 2, kFastOpen}, "other 1073742131"}});
}

TEST(Decode, KnowsTheCallsOfI386) {
  expect_rows(AUDIT_ARCH_I386,
              {{362, {3, 0x1000, 16}, "connect 3 4096 16"},
               {361, {3, 0x1000, 16}, "bind 3 4096 16"},
               {363, {3, 128}, "listen 3 128"},
               {364, {3, 0x1000, 0x2000, SOCK_CLOEXEC}, "accept 3 4096 8192 524288"},
               {367, {3, 0x1000, 0x2000}, "getsockname 3 4096 8192"},
               {365, {3, 1, 25, 0x1000, 0x2000}, "getsockopt 3 1 25 4096 8192"},
               {54, {3, 0x8912, 0x1000}, "narrow ioctl 3 35090 4096"},
               {369, {3, 1, 2, kFastOpen}, "fastopen 3"},
               {370, {3, 1, kFastOpen}, "fastopen 3"},
               {345, {3, 1, 2, kFastOpen}, "fastopen 3"},
               {254, {1}, "epoll_create"},
               {329, {0}, "epoll_create"},
               {446, {5, 0}, "landlock"},
               {102, {3, 0xfff01000}, "socketcall 3 4293922816"}});
}

TEST(Decode, LeavesTheNumbersOfOneAbiToThatAbi) {
  expect_rows(AUDIT_ARCH_I386, {{42, {3, 1, 16}, "other 42"}, {49, {}, "other 49"}});
  expect_rows(AUDIT_ARCH_X86_64, {{362, {3, 1, 16}, "other 362"}, {102, {}, "other 102"}});
  expect_rows(AUDIT_ARCH_AARCH64, {{203, {3, 1, 16}, "other 203"}, {42, {3}, "other 42"}});
}

TEST(Decode, LeavesCallsWhoseScalarsAreNotOurs) {
  expect_rows(AUDIT_ARCH_X86_64, {{16, {3, 0x5401}, "other 16"},   // TCGETS
                                  {16, {3, 0x5421}, "other 16"},   // FIONBIO
                                  {16, {3, 0x8a00}, "other 16"},   // just behind the range
                                  {16, {3, 0x88ff}, "other 16"},   // just before it
                                  {16, {3, 0x18912}, "other 16"},  // bits above the range
                                  {16, {3, 0x89ff}, "ioctl 3 35327 0"},
                                  {55, {3, 1, 4}, "other 55"},   // SO_ERROR
                                  {55, {3, 6, 25}, "other 55"},  // TCP option 25
                                  {44, {3, 1, 2, MSG_NOSIGNAL}, "other 44"},
                                  {46, {3, kFastOpen, 0}, "other 46"},
                                  {307, {3, 1, kFastOpen, 0}, "other 307"},
                                  {0, {}, "other 0"},
                                  {-1, {}, "other -1"}});
}

TEST(Decode, TruncatesScalarsAsTheKernelDoes) {
  const std::uint64_t high = 0xabcd00000000;
  expect_rows(AUDIT_ARCH_X86_64,
              {{42, {high | 3, 0x7fff00001000, high | 16}, "connect 3 140733193392128 16"},
               {42, {0xffffffff, 0, 0xffffffff}, "connect -1 0 4294967295"},
               {50, {high | 3, high | 0xffffffff}, "listen 3 -1"},
               {16, {high | 3, high | 0x8912}, "ioctl 3 35090 0"},
               {55, {high | 3, high | 1, high | 25}, "getsockopt 3 1 25 0 0"},
               {44, {high | 3, 1, 2, high | kFastOpen}, "fastopen 3"},
               {44, {3, 1, 2, kFastOpen << 32}, "other 44"},
               {288, {3, 0, 0, high | SOCK_CLOEXEC}, "accept 3 0 0 524288"}});
}

TEST(Decode, TakesPointersOfI386As32Bits) {
  expect_rows(AUDIT_ARCH_I386, {{362, {3, 0x100001000, 16}, "connect 3 4096 16"}});
}

TEST(SocketcallWords, AreTheKernels) {
  const int want[] = {0, 3, 3, 3, 2, 3, 3, 3, 4, 4, 4, 6, 6, 2, 5, 5, 3, 3, 4, 5, 4};
  for (int number = 0; number <= 20; ++number) EXPECT_EQ(socketcall_words(number), want[number]);
  for (const int number : {-1, 21, 1000, -2147483647 - 1}) EXPECT_EQ(socketcall_words(number), 0);
}

TEST(DecodeSocketcall, GivesTheTypedCall) {
  struct SocketcallRow {
    int number;
    std::array<std::uint32_t, 6> words;
    const char* want;
  };
  const SocketcallRow rows[] = {
      {2, {3, 0x1000, 16}, "bind 3 4096 16"},
      {3, {3, 0xfff01000, 16}, "connect 3 4293922816 16"},
      {4, {3, 128}, "listen 3 128"},
      {5, {3, 1, 2, 99}, "accept 3 1 2 0"},
      {6, {3, 1, 2}, "getsockname 3 1 2"},
      {9, {3, 1, 2, MSG_FASTOPEN}, "fastopen 3"},
      {9, {3, 1, 2, 0}, "other 9"},
      {11, {3, 1, 2, MSG_FASTOPEN}, "fastopen 3"},
      {15, {3, 1, 25, 4, 5}, "getsockopt 3 1 25 4 5"},
      {15, {3, 1, 3, 4, 5}, "other 15"},
      {16, {3, 1, MSG_FASTOPEN}, "fastopen 3"},
      {18, {3, 1, 2, SOCK_CLOEXEC}, "accept 3 1 2 524288"},
      {20, {3, 1, 2, MSG_FASTOPEN}, "fastopen 3"},
      {1, {2, 1, 0}, "other 1"},
      {13, {3, 2}, "other 13"},
      {0, {}, "other 0"},
      {21, {}, "other 21"},
      {-5, {}, "other -5"},
  };
  for (const SocketcallRow& row : rows) {
    EXPECT_EQ(told(decode_socketcall(row.number, row.words)), row.want) << row.number;
  }
}

}  // namespace
}  // namespace sockhop::core
