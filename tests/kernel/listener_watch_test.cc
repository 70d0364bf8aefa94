#include "sys/listener_watch.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "tests/support/network_namespace.h"

namespace sockhop {
namespace {

constexpr std::array<std::uint16_t, 2> kPorts{8080, 9090};

UniqueFd listen_on(int family, std::uint16_t port) {
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  const auto* name = family == AF_INET ? reinterpret_cast<const sockaddr*>(&four)
                                       : reinterpret_cast<const sockaddr*>(&six);
  EXPECT_EQ(::bind(fd.get(), name, family == AF_INET ? sizeof four : sizeof six), 0);
  EXPECT_EQ(::listen(fd.get(), 5), 0);
  return fd;
}

std::uint64_t cookie_of(const UniqueFd& fd) {
  std::uint64_t cookie = 0;
  socklen_t length = sizeof cookie;
  EXPECT_EQ(::getsockopt(fd.get(), SOL_SOCKET, SO_COOKIE, &cookie, &length), 0);
  return cookie;
}

bool readable_within(FdRef fd, int milliseconds) {
  pollfd one{fd.get(), POLLIN, 0};
  return ::poll(&one, 1, milliseconds) == 1;
}

class ListenerWatchTest : public ::testing::TestWithParam<int> {
 protected:
  ListenerWatchTest() {
    ns_.run([&] { watch_.emplace(*sys::ListenerWatch::open(kPorts)); });
  }
  UniqueFd listen_inside(std::uint16_t port) {
    UniqueFd fd;
    ns_.run([&] { fd = listen_on(GetParam(), port); });
    return fd;
  }
  tests::NetworkNamespace ns_;
  std::optional<sys::ListenerWatch> watch_;
};

TEST_P(ListenerWatchTest, LastCloseIsReportedByCookie) {
  auto listener = listen_inside(8080);
  const auto cookie = cookie_of(listener);
  EXPECT_TRUE(watch_->drain().sockets.empty());
  listener.reset();
  ASSERT_TRUE(readable_within(watch_->fd(), 5000));
  const auto gone = watch_->drain();
  ASSERT_EQ(gone.sockets.size(), 1U);
  EXPECT_EQ(gone.sockets[0].cookie, cookie);
  EXPECT_EQ(gone.sockets[0].local.port, 8080);
  EXPECT_FALSE(gone.overflow);
}

TEST_P(ListenerWatchTest, ForkedHolderDelaysTheReport) {
  auto listener = listen_inside(8080);
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  listener.reset();
  EXPECT_FALSE(readable_within(watch_->fd(), 200));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(readable_within(watch_->fd(), 5000));
  EXPECT_EQ(watch_->drain().sockets.size(), 1U);
}

TEST_P(ListenerWatchTest, OtherPortsDoNotWakeIt) {
  listen_inside(8081).reset();
  listen_inside(9090).reset();
  ASSERT_TRUE(readable_within(watch_->fd(), 5000));
  const auto gone = watch_->drain();
  ASSERT_EQ(gone.sockets.size(), 1U);
  EXPECT_EQ(gone.sockets[0].local.port, 9090);
  constexpr std::array<std::uint16_t, 1> kOther{8081};
  ASSERT_TRUE(watch_->set_ports(kOther));
  listen_inside(8080).reset();
  listen_inside(8081).reset();
  ASSERT_TRUE(readable_within(watch_->fd(), 5000));
  EXPECT_EQ(watch_->drain().sockets.at(0).local.port, 8081);
}

TEST_P(ListenerWatchTest, ListsListenersOfThePorts) {
  const auto listener = listen_inside(8080);
  const auto other = listen_inside(8081);
  const auto listed = watch_->list_listeners(kPorts);
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_EQ(listed->at(0).cookie, cookie_of(listener));
}

INSTANTIATE_TEST_SUITE_P(Families, ListenerWatchTest, ::testing::Values(AF_INET, AF_INET6));

TEST(ListenerWatch, TakesAsManyPortsAsItSays) {
  const tests::NetworkNamespace ns;
  std::vector<std::uint16_t> ports;
  for (std::uint16_t port = 1; ports.size() < sys::ListenerWatch::kMaxPorts; ++port) {
    ports.push_back(port);
  }
  ns.run([&] {
    auto watch = sys::ListenerWatch::open(ports);
    ASSERT_TRUE(watch) << to_string(watch.error());
    for (const std::uint16_t port : {ports.front(), ports.back()}) {
      listen_on(AF_INET, port).reset();
      ASSERT_TRUE(readable_within(watch->fd(), 5000)) << port;
      EXPECT_EQ(watch->drain().sockets.at(0).local.port, port);
    }
    ports.push_back(8080);
    EXPECT_EQ(sys::ListenerWatch::open(ports).error().code, E2BIG);
  });
}

}  // namespace
}  // namespace sockhop
