#include "core/join.h"

#include <gtest/gtest.h>

namespace sockhop::core {
namespace {

using namespace std::chrono_literals;
using OnRegister = JoinTable::OnRegister;
using OnNotify = JoinTable::OnNotify;
using OnUnregister = JoinTable::OnUnregister;

constexpr JoinTable::Time kNow{1000s};

Registration registration_of(std::uint16_t host_port) {
  Registration registration;
  registration.ports.push_back({{Address::v4(0, 0, 0, 0), host_port}, 80, Protocol::tcp});
  return registration;
}

int code_of(const auto& result) { return result ? 0 : result.error().code; }

// The rows of the joining table, in its order.

TEST(JoinTable, NotifyFdWithoutRegistrationStartsASessionWithoutPorts) {
  JoinTable table;
  EXPECT_EQ(*table.add_notify_fd("web"), OnNotify::start_session);
  EXPECT_FALSE(table.find("web")->registration);
  EXPECT_TRUE(table.find("web")->accelerate);
  EXPECT_FALSE(table.next_deadline()) << "a running container waits for nothing";
}

TEST(JoinTable, RegistrationWithoutNotifyFdIsDroppedAfterAMinute) {
  JoinTable table;
  EXPECT_EQ(*table.add_registration("web", registration_of(8080), kNow),
            OnRegister::wait_for_container);
  EXPECT_EQ(table.next_deadline(), kNow + 60s);
  EXPECT_TRUE(table.take_expired(kNow + 60s - 1ms).empty());
  ASSERT_TRUE(table.find("web"));
  EXPECT_EQ(table.take_expired(kNow + 60s), std::vector<std::string>{"web"});
  EXPECT_FALSE(table.find("web"));
  EXPECT_FALSE(table.next_deadline());
}

TEST(JoinTable, BothJoinWhenTheRegistrationCameFirst) {
  JoinTable table;
  ASSERT_TRUE(table.add_registration("web", registration_of(8080), kNow));
  EXPECT_EQ(*table.add_notify_fd("web"), OnNotify::start_session);
  ASSERT_TRUE(table.find("web")->registration);
  EXPECT_EQ(table.find("web")->registration->ports.front().host.port, 8080);
  EXPECT_TRUE(table.take_expired(kNow + 1h).empty()) << "its container came";
}

TEST(JoinTable, BothJoinWhenTheNotifyFdCameFirst) {
  JoinTable table;
  ASSERT_TRUE(table.add_notify_fd("web"));
  EXPECT_EQ(*table.add_registration("web", registration_of(8080), kNow),
            OnRegister::push_to_session);
  EXPECT_EQ(table.find("web")->registration->ports.size(), 1u);
  EXPECT_TRUE(table.take_expired(kNow + 1h).empty());
}

TEST(JoinTable, TheRegistrationEndsWithItsSession) {
  JoinTable table;
  ASSERT_TRUE(table.add_registration("web", registration_of(8080), kNow));
  ASSERT_TRUE(table.add_notify_fd("web"));
  table.session_ended("web");
  EXPECT_FALSE(table.find("web"));
  EXPECT_EQ(*table.add_notify_fd("web"), OnNotify::start_session) << "the name is free again";
  EXPECT_FALSE(table.find("web")->registration);
}

TEST(JoinTable, UnregisterLeavesTheSessionWithTheDefaultPolicy) {
  JoinTable table;
  ASSERT_TRUE(table.add_registration("web", registration_of(8080), kNow));
  ASSERT_TRUE(table.add_notify_fd("web"));
  ASSERT_TRUE(table.set_acceleration("web", false));
  EXPECT_EQ(*table.remove_registration("web"), OnUnregister::reset_session);
  ASSERT_TRUE(table.find("web"));
  EXPECT_TRUE(table.find("web")->has_session);
  EXPECT_FALSE(table.find("web")->registration);
  EXPECT_TRUE(table.find("web")->accelerate);
  EXPECT_EQ(*table.add_registration("web", registration_of(8081), kNow),
            OnRegister::push_to_session);
}

// Around the table.

TEST(JoinTable, UnregisterOfAWaitingContainerReleasesItsEndpoints) {
  JoinTable table;
  ASSERT_TRUE(table.add_registration("web", registration_of(8080), kNow));
  EXPECT_EQ(*table.remove_registration("web"), OnUnregister::release_endpoints);
  EXPECT_FALSE(table.find("web"));
}

TEST(JoinTable, ExecBringsAnotherNotifyFdToTheSameSession) {
  JoinTable table;
  ASSERT_TRUE(table.add_notify_fd("web"));
  EXPECT_EQ(*table.add_notify_fd("web"), OnNotify::add_to_session);
  EXPECT_EQ(*table.add_notify_fd("db"), OnNotify::start_session);
}

TEST(JoinTable, RefusesWhatCannotBe) {
  JoinTable table;
  ASSERT_TRUE(table.add_registration("web", registration_of(8080), kNow));
  EXPECT_EQ(code_of(table.add_registration("web", registration_of(1), kNow)), EEXIST);
  EXPECT_EQ(table.find("web")->registration->ports.front().host.port, 8080);
  EXPECT_EQ(code_of(table.add_registration("", {}, kNow)), EINVAL);
  EXPECT_EQ(code_of(table.add_notify_fd(std::string(1025, 'a'))), EINVAL);
  EXPECT_EQ(code_of(table.remove_registration("none")), ENOENT);
  EXPECT_EQ(code_of(table.set_acceleration("none", true)), ENOENT);
  ASSERT_TRUE(table.add_notify_fd("db"));
  EXPECT_EQ(code_of(table.remove_registration("db")), ENOENT) << "running, but not registered";
}

TEST(JoinTable, IsBounded) {
  JoinTable table;
  for (std::size_t i = 0; i < JoinTable::kMaxEntries; ++i) {
    ASSERT_TRUE(table.add_registration("c" + std::to_string(i), {}, kNow));
  }
  EXPECT_EQ(code_of(table.add_registration("more", {}, kNow)), ENOSPC);
  EXPECT_EQ(code_of(table.add_notify_fd("more")), ENOSPC);
  EXPECT_EQ(*table.add_notify_fd("c7"), OnNotify::start_session) << "a known one is no new entry";
}

TEST(JoinTable, TheEarliestRegistrationIsDueFirst) {
  JoinTable table;
  ASSERT_TRUE(table.add_registration("late", {}, kNow + 10s));
  ASSERT_TRUE(table.add_registration("early", {}, kNow));
  EXPECT_EQ(table.next_deadline(), kNow + 60s);
  EXPECT_EQ(table.take_expired(kNow + 65s), std::vector<std::string>{"early"});
  EXPECT_EQ(table.next_deadline(), kNow + 70s);
}

TEST(JoinTable, ASessionOfAnEarlierKeeperIsKnownAgain) {
  JoinTable table;
  table.adopt_session("web", registration_of(8080), false);
  EXPECT_FALSE(table.find("web")->accelerate);
  EXPECT_EQ(*table.add_notify_fd("web"), OnNotify::add_to_session);
  EXPECT_EQ(code_of(table.add_registration("web", {}, kNow)), EEXIST);
  EXPECT_EQ(*table.remove_registration("web"), OnUnregister::reset_session);
}

}  // namespace
}  // namespace sockhop::core
