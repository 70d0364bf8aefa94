// Drives the filter that a runtime would load for our profile: every rule fires for its calls, on
// every ABI, and for no other call.

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cerrno>
#include <ostream>
#include <string>
#include <vector>

#include "core/profile.h"
#include "tests/support/filtered_child.h"
#include "tests/support/oci_filter.h"

namespace sockhop {
namespace {

using test::Abi;
using test::Attempt;

constexpr std::uint64_t kNoFd = 0xffffffff;
constexpr std::uint64_t kGarbage = 0xdead'beef'0000'0000;
constexpr std::uint64_t kFastOpen = 0x20000000;

constexpr const char* kAllowAll = R"({})";
// The shape of the engines' default profiles: everything refused but a list.
constexpr const char* kAllowList = R"({"linux":{"seccomp":{
  "defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":1,
  "architectures":["SCMP_ARCH_X86_64","SCMP_ARCH_X86","SCMP_ARCH_X32"],
  "syscalls":[
    {"names":["accept","accept4","bind","close","connect","epoll_create","epoll_create1","exit",
              "exit_group","fcntl","getpid","getpeername","getsockname","getsockopt","ioctl",
              "io_uring_enter","io_uring_register","io_uring_setup","landlock_restrict_self","listen",
              "recvfrom","recvmsg","sendmmsg","sendmsg","sendto","setsockopt","socketcall"],
     "action":"SCMP_ACT_ALLOW"},
    {"names":["socket"],"action":"SCMP_ACT_ALLOW",
     "args":[{"index":0,"value":40,"op":"SCMP_CMP_NE"}]},
    {"names":["personality"],"action":"SCMP_ACT_ALLOW",
     "args":[{"index":0,"value":0,"op":"SCMP_CMP_EQ"}]},
    {"names":["personality"],"action":"SCMP_ACT_ALLOW",
     "args":[{"index":0,"value":8,"op":"SCMP_CMP_EQ"}]}]}}})";

enum class Outcome { notified, refused, passed };

Outcome outcome_of(long result) {
  if (result == test::kNotified) return Outcome::notified;
  return result == -EPERM ? Outcome::refused : Outcome::passed;
}

struct Case {
  std::string what;
  Attempt attempt;
  Outcome expected;
};

Case x64(long number, std::array<std::uint64_t, 6> arguments, Outcome expected) {
  return {"x86_64 " + std::to_string(number), {Abi::x86_64, number, arguments}, expected};
}

Case x32(long number, std::array<std::uint64_t, 6> arguments, Outcome expected) {
  return {"x32 " + std::to_string(number), {Abi::x32, number, arguments}, expected};
}

Case i386(long number, std::array<std::uint64_t, 6> arguments, Outcome expected) {
  return {"i386 " + std::to_string(number), {Abi::i386, number, arguments}, expected};
}

struct Base {
  std::string name;
  const char* config;
};
// What GoogleTest prints of the parameter.
void PrintTo(const Base& base, std::ostream* out) { *out << base.name; }

class ProfileFilter : public testing::TestWithParam<Base> {
 protected:
  static std::vector<sock_filter> filter_of(const std::string& config) {
    const auto merged = core::apply_profile(
        config, {.listener_path = "/run/x.sock", .wait_killable = false, .refuse_io_uring = true});
    return test::build_filter(merged.value());
  }

  static std::vector<long> run(const std::vector<Case>& cases) {
    std::vector<Attempt> attempts;
    for (const Case& each : cases) attempts.push_back(each.attempt);
    return test::run_filtered(filter_of(GetParam().config), attempts);
  }

  static void expect(const std::vector<Case>& cases) {
    const std::vector<long> results = run(cases);
    ASSERT_EQ(results.size(), cases.size()) << "the child died";
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const auto& arguments = cases[i].attempt.arguments;
      EXPECT_EQ(static_cast<int>(outcome_of(results[i])), static_cast<int>(cases[i].expected))
          << cases[i].what << std::hex << " (" << arguments[0] << ", " << arguments[1] << ", "
          << arguments[2] << ", " << arguments[3] << ") gave " << std::dec << results[i];
    }
  }

  /// The kernel may be built without 32-bit calls; int 0x80 kills the caller then.
  static bool has_i386() {
    constexpr long kGetpid = 20;
    return !run({i386(kGetpid, {}, Outcome::passed)}).empty();
  }
};

TEST_P(ProfileFilter, NotifiesTheUnconditionalCalls) {
  std::vector<Case> cases;
  for (const long number :
       {SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_getsockname,
        SYS_epoll_create, SYS_epoll_create1, SYS_landlock_restrict_self}) {
    cases.push_back(x64(number, {kNoFd}, Outcome::notified));
    cases.push_back(x32(number, {kNoFd}, Outcome::notified));
  }
  expect(cases);
}

TEST_P(ProfileFilter, NotifiesTheUnconditionalCallsOfI386) {
  if (!has_i386()) GTEST_SKIP() << "this kernel runs no 32-bit calls";
  constexpr long kNumbers[] = {361, 362, 363, 364, 367, 254, 329, 446};  // bind ... landlock
  std::vector<Case> cases;
  for (const long number : kNumbers) cases.push_back(i386(number, {kNoFd}, Outcome::notified));
  expect(cases);
}

TEST_P(ProfileFilter, NotifiesEverySocketcall) {
  if (!has_i386()) GTEST_SKIP() << "this kernel runs no 32-bit calls";
  constexpr long kSocketcall = 102;
  std::vector<Case> cases;
  for (std::uint64_t subcall = 0; subcall <= 21; ++subcall) {
    cases.push_back(i386(kSocketcall, {subcall, 0}, Outcome::notified));
    // The other registers hold anything: no argument rule may look at them.
    cases.push_back(i386(kSocketcall, {subcall, 1, 25, kFastOpen}, Outcome::notified));
    cases.push_back(i386(kSocketcall, {subcall, 0x10, 0, ~kFastOpen}, Outcome::notified));
  }
  expect(cases);
}

TEST_P(ProfileFilter, PassesOtherCalls) {
  std::vector<Case> cases;
  for (const long number : {SYS_close, SYS_fcntl, SYS_setsockopt, SYS_getpeername, SYS_recvfrom,
                            SYS_recvmsg, SYS_getpid}) {
    cases.push_back(x64(number, {kNoFd, 1, 25, kFastOpen}, Outcome::passed));
  }
  cases.push_back(x64(SYS_socket, {1, 0xff}, Outcome::passed));
  expect(cases);
}

TEST_P(ProfileFilter, NotifiesFastOpenSendsOnly) {
  std::vector<Case> cases;
  for (const std::uint64_t high : {std::uint64_t{0}, kGarbage}) {
    for (const std::uint64_t flags : {kFastOpen, kFastOpen | 0x4040, std::uint64_t{0xffffffff}}) {
      cases.push_back(x64(SYS_sendto, {kNoFd, 0, 0, high | flags}, Outcome::notified));
      cases.push_back(x64(SYS_sendmsg, {kNoFd, 0, high | flags}, Outcome::notified));
      cases.push_back(x64(SYS_sendmmsg, {kNoFd, 0, 0, high | flags}, Outcome::notified));
    }
    for (const std::uint64_t flags : {std::uint64_t{0}, ~kFastOpen & 0xffffffff}) {
      cases.push_back(x64(SYS_sendto, {kNoFd, 0, 0, high | flags}, Outcome::passed));
      cases.push_back(x64(SYS_sendmsg, {kNoFd, 0, high | flags}, Outcome::passed));
      cases.push_back(x64(SYS_sendmmsg, {kNoFd, 0, 0, high | flags}, Outcome::passed));
    }
  }
  // The flag's bit in an argument that is not the flags.
  cases.push_back(x64(SYS_sendto, {kNoFd, kFastOpen, kFastOpen, 0}, Outcome::passed));
  cases.push_back(x64(SYS_sendmsg, {kNoFd, kFastOpen, 0, kFastOpen}, Outcome::passed));
  expect(cases);
}

TEST_P(ProfileFilter, NotifiesSocketIoctlsOnly) {
  std::vector<Case> cases;
  for (const std::uint64_t high : {std::uint64_t{0}, kGarbage}) {
    for (const std::uint64_t command : {0x8900, 0x8912, 0x8933, 0x89ff}) {
      cases.push_back(x64(SYS_ioctl, {kNoFd, high | command}, Outcome::notified));
    }
    for (unsigned bit = 8; bit < 32; ++bit) {
      const std::uint64_t command = 0x8912 ^ (std::uint64_t{1} << bit);
      cases.push_back(x64(SYS_ioctl, {kNoFd, high | command}, Outcome::passed));
    }
    for (const std::uint64_t command : {0x5401, 0x5421, 0x8a00, 0x8800, 0x0}) {
      cases.push_back(x64(SYS_ioctl, {kNoFd, high | command}, Outcome::passed));
    }
  }
  cases.push_back(x32(514, {kNoFd, 0x8912}, Outcome::notified));
  cases.push_back(x32(514, {kNoFd, 0x5401}, Outcome::passed));
  expect(cases);
}

TEST_P(ProfileFilter, NotifiesTheBoundDeviceOptionsOnly) {
  std::vector<Case> cases;
  for (const std::uint64_t high : {std::uint64_t{0}, kGarbage}) {
    for (const std::uint64_t option : {25, 62}) {
      cases.push_back(x64(SYS_getsockopt, {kNoFd, high | 1, high | option}, Outcome::notified));
      for (unsigned bit = 0; bit < 32; ++bit) {
        const std::uint64_t flip = std::uint64_t{1} << bit;
        cases.push_back(
            x64(SYS_getsockopt, {kNoFd, high | (1 ^ flip), high | option}, Outcome::passed));
        cases.push_back(
            x64(SYS_getsockopt, {kNoFd, high | 1, high | (option ^ flip)}, Outcome::passed));
      }
    }
    for (std::uint64_t option = 0; option < 80; ++option) {
      const bool ours = option == 25 || option == 62;
      cases.push_back(x64(SYS_getsockopt, {kNoFd, high | 1, high | option},
                          ours ? Outcome::notified : Outcome::passed));
    }
  }
  expect(cases);
}

TEST_P(ProfileFilter, NotifiesTheScalarsOfOtherAbis) {
  std::vector<Case> cases{
      x32(542, {kNoFd, 1, 25}, Outcome::notified),  // getsockopt
      x32(542, {kNoFd, 1, 24}, Outcome::passed),
      x32(44, {kNoFd, 0, 0, kFastOpen}, Outcome::notified),  // sendto
      x32(44, {kNoFd, 0, 0, 0}, Outcome::passed),
  };
  if (has_i386()) {
    cases.push_back(i386(54, {kNoFd, 0x8912}, Outcome::notified));  // ioctl
    cases.push_back(i386(54, {kNoFd, 0x5401}, Outcome::passed));
    cases.push_back(i386(365, {kNoFd, 1, 62}, Outcome::notified));  // getsockopt
    cases.push_back(i386(365, {kNoFd, 6, 62}, Outcome::passed));
    cases.push_back(i386(369, {kNoFd, 0, 0, kFastOpen}, Outcome::notified));  // sendto
    cases.push_back(i386(369, {kNoFd, 0, 0, 0x4000}, Outcome::passed));
    cases.push_back(i386(345, {kNoFd, 0, 0, kFastOpen}, Outcome::notified));  // sendmmsg
    cases.push_back(i386(370, {kNoFd, 0, kFastOpen}, Outcome::notified));     // sendmsg
  }
  expect(cases);
}

TEST_P(ProfileFilter, AnswersIoUringWithEnosys) {
  const std::vector<long> results = run({x64(SYS_io_uring_setup, {1, 0}, Outcome::passed),
                                         x64(SYS_io_uring_enter, {kNoFd}, Outcome::passed),
                                         x64(SYS_io_uring_register, {kNoFd}, Outcome::passed)});
  EXPECT_EQ(results, (std::vector<long>{-ENOSYS, -ENOSYS, -ENOSYS}));
}

std::string name_of(const testing::TestParamInfo<Base>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Profiles, ProfileFilter,
                         testing::Values(Base{"AllowAll", kAllowAll},
                                         Base{"AllowList", kAllowList}),
                         name_of);

using ProfileFilterRefusing = ProfileFilter;
TEST_P(ProfileFilterRefusing, RefusedCallsStayRefused) {
  expect({
      x64(SYS_connect, {kNoFd}, Outcome::refused),
      x64(SYS_sendto, {kNoFd, 0, 0, kFastOpen}, Outcome::refused),
      x64(SYS_ioctl, {kNoFd, 0x5412}, Outcome::refused),
      x64(SYS_ioctl, {kNoFd, kGarbage | 0x5412}, Outcome::refused),
      x64(SYS_ioctl, {kNoFd, 0x8912}, Outcome::notified),
      x64(SYS_ioctl, {kNoFd, 0x5401}, Outcome::passed),
      x64(SYS_bind, {kNoFd, 0, 16}, Outcome::notified),
      x64(SYS_bind, {kNoFd, 0, 17}, Outcome::refused),
      x64(SYS_io_uring_setup, {1, 0}, Outcome::refused),
  });
}

constexpr const char* kRefusing =
    R"({"linux":{"seccomp":{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[
    {"names":["connect","sendto","io_uring_setup"],"action":"SCMP_ACT_ERRNO","errnoRet":1},
    {"names":["ioctl"],"action":"SCMP_ACT_ERRNO","errnoRet":1,
     "args":[{"index":1,"value":4294967295,"valueTwo":21522,"op":"SCMP_CMP_MASKED_EQ"}]},
    {"names":["bind"],"action":"SCMP_ACT_ERRNO","errnoRet":1,
     "args":[{"index":2,"value":16,"op":"SCMP_CMP_GT"}]}]}}})";
INSTANTIATE_TEST_SUITE_P(Profiles, ProfileFilterRefusing,
                         testing::Values(Base{"Refusing", kRefusing}), name_of);

}  // namespace
}  // namespace sockhop
