// What an application set on one socket is found again on the socket that takes its place.
#include "sys/socket_options.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <span>
#include <string>

#include "sys/host_socket.h"
#include "sys/linux_abi.h"

namespace sockhop::sys {
namespace {

using Value = std::array<char, 16>;

bool read(FdRef fd, const CarriedOption& option, Value& value) {
  value.fill(0);
  socklen_t size = static_cast<socklen_t>(option.size);
  return ::getsockopt(fd.get(), option.level, option.name, value.data(), &size) == 0;
}

/// A value that differs from the default and that an unprivileged program may set.
Value other_value(const CarriedOption& option, const Value& before) {
  Value value = before;
  if (option.size == 16 && option.level == IPPROTO_TCP) {
    std::strcpy(value.data(), "reno");
  } else if (option.size == 16) {
    value[0] = 7;  // struct timeval: seconds
  } else if (option.size == 8 && option.name == SO_LINGER) {
    value[0] = 1;
    value[4] = 5;
  } else {
    value[0] = static_cast<char>(before[0] == 0 ? 1 : before[0] - 1);
  }
  return value;
}

/// Sets what can be set; false where this kernel or this user cannot.
bool set_other(FdRef fd, const CarriedOption& option, Value& value) {
  Value before;
  if (!read(fd, option, before)) return false;
  value = other_value(option, before);
  if (::setsockopt(fd.get(), option.level, option.name, value.data(),
                   static_cast<socklen_t>(option.size)) < 0) {
    return false;
  }
  return read(fd, option, value) && value != before;
}

class SocketOptions : public testing::TestWithParam<int> {};

TEST_P(SocketOptions, EachIsCarriedAlone) {
  const auto carrier = OptionCarrier::open();
  ASSERT_TRUE(carrier);
  std::size_t count = 0;
  const CarriedOption* all = carried_options(count);
  std::size_t seen = 0;
  for (const CarriedOption& option : std::span(all, count)) {
    const auto source = make_tcp_socket(GetParam());
    const auto target = make_tcp_socket(GetParam());
    ASSERT_TRUE(source && target);
    Value wanted;
    if (option.carriage == Carriage::back || !set_other(*source, option, wanted)) continue;
    ++seen;
    ASSERT_TRUE(carrier->carry(*source, *target, GetParam())) << option.text;
    Value found;
    ASSERT_TRUE(read(*target, option, found)) << option.text;
    EXPECT_EQ(found, wanted) << option.text;
  }
  EXPECT_GE(seen, 30U) << "most of the table can be set by anybody";
}

TEST_P(SocketOptions, ReuseComesBackAndIsNotCarriedOut) {
  const auto carrier = OptionCarrier::open();
  const auto source = make_tcp_socket(GetParam());
  const auto target = make_tcp_socket(GetParam());
  ASSERT_TRUE(carrier && source && target);
  set_reuse(*source, 3);
  ASSERT_EQ(reuse_of(*source), 3);
  ASSERT_TRUE(carrier->carry(*source, *target, GetParam()));
  EXPECT_EQ(reuse_of(*target), 0);
  ASSERT_TRUE(carrier->carry_back(*source, *target, GetParam()));
  EXPECT_EQ(reuse_of(*target), 3);
}

TEST_P(SocketOptions, BufferSizesAreCarriedOnlyWhenTheyWereSet) {
  const auto carrier = OptionCarrier::open();
  const auto source = make_tcp_socket(GetParam());
  const auto untouched = make_tcp_socket(GetParam());
  const auto target = make_tcp_socket(GetParam());
  ASSERT_TRUE(carrier && source && untouched && target);
  const int size = 12345;
  ::setsockopt(source->get(), SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  ASSERT_TRUE(carrier->carry(*source, *target, GetParam()));
  int locked = 0;
  socklen_t length = sizeof locked;
  ::getsockopt(target->get(), SOL_SOCKET, SO_BUF_LOCK, &locked, &length);
  EXPECT_EQ(locked, 1);
  int found = 0;
  ::getsockopt(target->get(), SOL_SOCKET, SO_SNDBUF, &found, &length);
  EXPECT_EQ(found, 2 * size);

  const auto second = make_tcp_socket(GetParam());
  ASSERT_TRUE(carrier->carry(*untouched, *second, GetParam()));
  ::getsockopt(second->get(), SOL_SOCKET, SO_BUF_LOCK, &locked, &length);
  EXPECT_EQ(locked, 0) << "the kernel must go on tuning a buffer that nobody set";
}

TEST_P(SocketOptions, AMarkedSocketStays) {
  const auto carrier = OptionCarrier::open();
  const auto source = make_tcp_socket(GetParam());
  const auto target = make_tcp_socket(GetParam());
  ASSERT_TRUE(carrier && source && target);
  const int mark = 7;
  if (::setsockopt(source->get(), SOL_SOCKET, SO_MARK, &mark, sizeof mark) < 0) {
    GTEST_SKIP() << "SO_MARK needs CAP_NET_ADMIN";
  }
  const auto carried = carrier->carry(*source, *target, GetParam());
  ASSERT_FALSE(carried);
  EXPECT_EQ(carried.error().code, ENOPROTOOPT);
}

TEST_P(SocketOptions, TheLeashIsNotCarriedBack) {
  const auto carrier = OptionCarrier::open();
  const auto source = make_tcp_socket(GetParam());
  const auto target = make_tcp_socket(GetParam());
  ASSERT_TRUE(carrier && source && target);
  ASSERT_TRUE(bind_to_device(*source, 1));
  EXPECT_FALSE(carrier->carry(*source, *target, GetParam()));
  ASSERT_TRUE(carrier->carry_back(*source, *target, GetParam()));
  int device = -1;
  socklen_t length = sizeof device;
  ::getsockopt(target->get(), SOL_SOCKET, SO_BINDTOIFINDEX, &device, &length);
  EXPECT_EQ(device, 0);
}

INSTANTIATE_TEST_SUITE_P(Families, SocketOptions, testing::Values(AF_INET, AF_INET6),
                         [](const auto& one) { return one.param == AF_INET ? "v4" : "v6"; });

}  // namespace
}  // namespace sockhop::sys
