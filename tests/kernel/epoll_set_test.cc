// Registrations that move, references that are gone, waiting without holding.
#include "sys/epoll_set.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "sys/host_socket.h"
#include "sys/readiness.h"

namespace sockhop::sys {
namespace {

std::pair<UniqueFd, UniqueFd> pair_of_sockets() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

UniqueFd new_set() { return UniqueFd(::epoll_create1(EPOLL_CLOEXEC)); }

void add(FdRef set, FdRef file, std::uint32_t events, std::uint64_t data) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = data;
  ASSERT_EQ(::epoll_ctl(set.get(), EPOLL_CTL_ADD, file.get(), &event), 0);
}

TEST(WatchedBy, TellsByFileAndNumber) {
  const UniqueFd set = new_set();
  const auto [one, other] = pair_of_sockets();
  add(set, one, EPOLLIN, 1);
  EXPECT_EQ(watched_by(::getpid(), set.get(), one, one.get()), EpollWatch::yes);
  EXPECT_EQ(watched_by(::getpid(), set.get(), other, other.get()), EpollWatch::no);
  const UniqueFd duplicate(::dup(one.get()));
  EXPECT_EQ(watched_by(::getpid(), set.get(), duplicate, duplicate.get()), EpollWatch::no)
      << "the same file under another number is another entry";
  EXPECT_EQ(watched_by(::getpid(), one.get(), one, one.get()), EpollWatch::no_such_set);
}

TEST(Fdinfo, TellsEventsAndData) {
  const UniqueFd set = new_set();
  const auto [one, other] = pair_of_sockets();
  add(set, one, EPOLLIN | EPOLLET, 0x123456789abcdef0);
  const auto text = read_fdinfo(::getpid(), set.get());
  ASSERT_TRUE(text);
  const auto all = core::parse_epoll_info(*text);
  const auto* found = core::find_number(all, one.get());
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->data, 0x123456789abcdef0U);
  EXPECT_EQ(found->events & (EPOLLIN | EPOLLET), static_cast<std::uint32_t>(EPOLLIN | EPOLLET));
}

TEST(FindEpollSets, FindsThemAmongOtherDescriptors) {
  const UniqueFd set = new_set();
  const auto [one, other] = pair_of_sockets();
  const auto sets = find_epoll_sets(::getpid(), 1'000'000'000);
  ASSERT_TRUE(sets);
  EXPECT_NE(std::find(sets->begin(), sets->end(), set.get()), sets->end());
  EXPECT_EQ(std::find(sets->begin(), sets->end(), one.get()), sets->end());
}

TEST(FindEpollSets, GivesUpWhenItsTimeIsOver) {
  std::vector<UniqueFd> many;
  for (int i = 0; i < 128; ++i) many.push_back(new_set());
  const auto sets = find_epoll_sets(::getpid(), -1);
  ASSERT_FALSE(sets);
  EXPECT_EQ(sets.error().code, ETIME);
}

TEST(RegistrationThread, RegistersUnderANumberOfAnotherTable) {
  const auto thread = RegistrationThread::start();
  ASSERT_TRUE(thread);
  const UniqueFd set = new_set();
  const auto [one, other] = pair_of_sockets();
  // 0 to 3 are where the thread's own descriptors lie.
  for (const int number : {0, 1, 2, 3, 700}) {
    ASSERT_TRUE((*thread)->add(set, one, {number, EPOLLOUT, 42U + static_cast<unsigned>(number)}));
    EXPECT_EQ(watched_by(::getpid(), set.get(), one, number), EpollWatch::yes) << number;
    ASSERT_TRUE((*thread)->add(set, one, {number, EPOLLOUT, 42})) << "again is no error";
  }
  epoll_event events[8];
  EXPECT_EQ(::epoll_wait(set.get(), events, 8, 0), 5);
}

TEST(RegistrationThread, MovesARegistrationToAnotherSocket) {
  const auto thread = RegistrationThread::start();
  ASSERT_TRUE(thread);
  const UniqueFd set = new_set();
  const auto [old, first_peer] = pair_of_sockets();
  const auto [fresh, second_peer] = pair_of_sockets();
  add(set, old, EPOLLIN, 7);
  ASSERT_TRUE((*thread)->move(set, old, fresh, {old.get(), EPOLLIN, 7}));
  EXPECT_EQ(watched_by(::getpid(), set.get(), old, old.get()), EpollWatch::no);
  ASSERT_EQ(::write(second_peer.get(), "x", 1), 1);
  epoll_event event{};
  ASSERT_EQ(::epoll_wait(set.get(), &event, 1, 1000), 1);
  EXPECT_EQ(event.data.u64, 7U);
}

TEST(LastReference, IsGoneWithTheLastCopyOnly) {
  auto last = LastReference::open();
  ASSERT_TRUE(last);
  auto [one, other] = pair_of_sockets();
  UniqueFd duplicate(::dup(one.get()));
  ASSERT_TRUE(last->watch(one));
  one.reset();
  EXPECT_FALSE(last->gone());
  duplicate.reset();
  EXPECT_TRUE(last->gone());
}

TEST(LastReference, SeesACopyInFlight) {
  auto last = LastReference::open();
  ASSERT_TRUE(last);
  auto [one, other] = pair_of_sockets();
  auto [sender, receiver] = pair_of_sockets();
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  const int number = one.get();
  std::memcpy(CMSG_DATA(head), &number, sizeof number);
  ASSERT_EQ(::sendmsg(sender.get(), &message, 0), 1);
  ASSERT_TRUE(last->watch(one));
  one.reset();
  EXPECT_FALSE(last->gone()) << "it lies in the queue of a socket";
  receiver.reset();
  EXPECT_TRUE(last->gone());
}

TEST(WaitSet, ReportsOnceAndHoldsNothing) {
  auto waits = WaitSet::open();
  ASSERT_TRUE(waits);
  auto [one, other] = pair_of_sockets();
  {
    const UniqueFd copy(::dup(one.get()));
    ASSERT_TRUE(waits->watch(copy, EPOLLIN, 5));
  }
  EXPECT_TRUE(waits->take().empty());
  ASSERT_EQ(::write(other.get(), "x", 1), 1);
  EXPECT_TRUE(poll_now(waits->fd()).readable);
  const auto events = waits->take();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].key, 5U);
  ASSERT_EQ(::write(other.get(), "x", 1), 1);
  EXPECT_TRUE(waits->take().empty()) << "one event a registration";
  one.reset();
  char byte = 0;
  EXPECT_EQ(::read(other.get(), &byte, 1), -1) << "the set held the socket open";
  EXPECT_EQ(errno, ECONNRESET);
}

TEST(TakeConnectResult, TellsWithoutAnAddress) {
  const auto socket = make_tcp_socket(AF_INET);
  ASSERT_TRUE(socket);
  EXPECT_EQ(take_connect_result(*socket).stage, ConnectStage::unconnected);
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_TRUE(listen_on(listener, 1));
  core::Endpoint there{core::Address::v4(127, 0, 0, 1), 0, 0};
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&name), &size), 0);
  std::uint16_t port = 0;
  std::memcpy(&port, reinterpret_cast<char*>(&name) + 2, sizeof port);
  there.port = ntohs(port);
  EXPECT_EQ(start_connect(*socket, there, AF_INET).stage, ConnectStage::in_progress);
  EXPECT_EQ(take_connect_result(*socket).stage, ConnectStage::done);
  EXPECT_EQ(take_connect_result(*socket).stage, ConnectStage::already);
}

}  // namespace
}  // namespace sockhop::sys
