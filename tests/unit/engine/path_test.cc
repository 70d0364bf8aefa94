#include "engine/path.h"

#include <gtest/gtest.h>

#include <map>

namespace sockhop::engine {
namespace {

using core::Address;
using core::DeviceKind;
using core::NamespaceRules;
using core::Reason;
using core::RouteKind;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

Address address(const char* text) { return *Address::parse(text); }

NamespaceRules plain() {
  NamespaceRules rules;
  rules.local_ports_are_high = true;
  return rules;
}

NamespaceRules with_rule(core::Hook hook, core::RuleProgram program) {
  core::RuleSetBuilder builder;
  auto& chain = builder.define("chain");
  chain.base = true;
  chain.hook = hook;
  program.push_back(core::RuleVerdict{});
  builder.add_rule("chain", std::move(program));
  auto rules = plain();
  rules.nft = std::move(builder).finish();
  return rules;
}

NamespaceRules with_port_dropped(core::Hook hook, std::uint16_t port) {
  return with_rule(hook, {core::LoadHeader{true, 2, 0, 2},
                          core::Compare{core::Order::equal,
                                        0,
                                        {static_cast<std::uint8_t>(port >> 8),
                                         static_cast<std::uint8_t>(port & 0xff)}}});
}

NamespaceRules with_device_dropped(std::string name) {
  name.resize(16);
  return with_rule(core::Hook::forward,
                   {core::LoadField{core::PacketField::in_name, 0, 16},
                    core::Compare{core::Order::equal, 0, {name.begin(), name.end()}}});
}

struct FakeNamespace final : sys::NamespaceQuestions {
  bool event = false;
  int routes_asked = 0;
  int drained = 0;
  Result<core::RouteAnswer> answer = Error{ENODEV, "fake", {}};
  std::map<Address, core::RouteAnswer> special;
  std::map<int, core::DeviceFacts> devices;
  std::vector<Address> own;
  Result<NamespaceRules> rules = plain();
  int rules_asked = 0;
  nanoseconds* cost = nullptr;

  bool changed() override {
    ++drained;
    return std::exchange(event, false);
  }
  Result<core::RouteAnswer> route(const Address& destination) override {
    ++routes_asked;
    if (cost != nullptr) *cost += milliseconds(20);
    const auto found = special.find(destination);
    return found == special.end() ? answer : found->second;
  }
  Result<core::DeviceFacts> device(int index) override {
    const auto found = devices.find(index);
    if (found == devices.end()) return Error{ENODEV, "fake", {}};
    return found->second;
  }
  Result<std::vector<Address>> addresses(int /*index*/) override { return own; }
  Result<sys::RuleReader::Reread> filtering(NamespaceRules known) override {
    ++rules_asked;
    if (!rules) return rules.error();
    return sys::RuleReader::Reread{*rules, !(known == *rules)};
  }
};

struct FakeClock final : sys::CpuClock {
  nanoseconds* time;
  nanoseconds* cpu;
  FakeClock(nanoseconds* clock, nanoseconds* spent) : time(clock), cpu(spent) {}
  nanoseconds now() const override { return *time; }
  nanoseconds thread_cpu() const override { return *cpu; }
};

// container --veth 2/7--> middle --tap0--> host --eth0-->
class PathTest : public ::testing::Test {
 protected:
  PathTest() {
    auto container = std::make_unique<FakeNamespace>();
    auto middle = std::make_unique<FakeNamespace>();
    auto host = std::make_unique<FakeNamespace>();
    container_ = container.get();
    middle_ = middle.get();
    host_ = host.get();
    container_->answer = via("10.4.0.1", 2, "10.4.0.2");
    container_->devices[2] = {2, "eth0", DeviceKind::veth, 7, false};
    middle_->answer = via("10.0.2.2", 3, "10.0.2.100");
    middle_->devices[7] = {7, "veth7", DeviceKind::veth, 2, false};
    middle_->devices[3] = {3, "tap0", DeviceKind::tap, 0, false};
    host_->answer = via("10.9.0.1", 4, "10.9.0.2");
    host_->devices[4] = {4, "wan", DeviceKind::other, 0, false};
    PathPlaces places{{"container", 10, std::move(container)}, {}, {"host", 30, std::move(host)}};
    places.middle.push_back({"middle", 20, std::move(middle)});
    finder_.emplace(std::move(places), std::vector<core::Uplink>{uplink()},
                    std::make_unique<FakeClock>(&time_, &cpu_));
  }
  static core::RouteAnswer via(const char* gateway, int device, const char* source) {
    return {RouteKind::unicast, device, address(gateway), address(source), false, false};
  }
  static core::Uplink uplink() { return {20, "tap0", core::UplinkKind::slirp4netns, false, {}}; }
  void expect_hop(std::uint16_t port = 443) {
    const auto path = finder_->find({far_, port, 0});
    ASSERT_TRUE(std::holds_alternative<core::HostPath>(path)) << describe(std::get<Reason>(path));
    EXPECT_EQ(std::get<core::HostPath>(path).device_name, "wan");
  }
  void expect_stay(Reason reason, std::uint16_t port = 443) {
    const auto path = finder_->find({far_, port, 0});
    ASSERT_TRUE(std::holds_alternative<Reason>(path));
    EXPECT_EQ(describe(std::get<Reason>(path)), describe(reason));
  }

  const Address far_ = address("203.0.113.9");
  nanoseconds time_ = std::chrono::hours(1);
  nanoseconds cpu_{0};
  FakeNamespace* container_ = nullptr;
  FakeNamespace* middle_ = nullptr;
  FakeNamespace* host_ = nullptr;
  std::optional<PathFinder> finder_;
};

TEST_F(PathTest, FollowsTheVethToTheUplinkAndAsksTheHost) {
  expect_hop();
  EXPECT_EQ(finder_->container_source(far_), address("10.4.0.2"));
}

TEST_F(PathTest, CachedAnswerAsksNobodyButDrainsEveryWatch) {
  expect_hop();
  const int drained = container_->drained;
  expect_hop();
  EXPECT_EQ(container_->routes_asked, 1);
  EXPECT_EQ(host_->routes_asked, 1);
  EXPECT_EQ(container_->drained, drained + 1);
  EXPECT_EQ(middle_->drained, container_->drained);
  EXPECT_EQ(host_->drained, container_->drained);
}

TEST_F(PathTest, ChangeAnywhereDropsTheCache) {
  for (FakeNamespace* changed : {container_, middle_, host_}) {
    expect_hop();
    const int asked = container_->routes_asked;
    changed->event = true;
    expect_hop();
    EXPECT_EQ(container_->routes_asked, asked + 1);
  }
}

TEST_F(PathTest, VethWhoseOtherEndDoesNotNameItStays) {
  middle_->devices[7].peer_index = 9;
  expect_stay(Reason::not_the_uplink);
}

TEST_F(PathTest, TapWithoutKnownOwnerStays) {
  finder_->set_uplinks({});
  expect_stay(Reason::unknown_uplink);
}

TEST_F(PathTest, UplinkOfAnotherNamespaceDoesNotCount) {
  auto other = uplink();
  other.netns_inode = 99;
  finder_->set_uplinks({other});
  expect_stay(Reason::unknown_uplink);
  other.netns_inode = 0;
  finder_->set_uplinks({other});
  expect_hop();
}

TEST_F(PathTest, RulesOnTheWayStay) {
  middle_->rules = with_port_dropped(core::Hook::forward, 443);
  middle_->event = true;
  expect_stay(Reason::filtered);
  expect_hop(80);
  middle_->rules = plain();
  middle_->event = true;
  expect_hop();
}

TEST_F(PathTest, EachNamespaceHasHooksOfItsOwn) {
  container_->rules = with_port_dropped(core::Hook::forward, 443);
  middle_->rules = with_port_dropped(core::Hook::output, 443);
  expect_hop();
  container_->rules = with_port_dropped(core::Hook::output, 443);
  container_->event = true;
  expect_stay(Reason::filtered);
}

TEST_F(PathTest, PortsHaveAnswersOfTheirOwnOnlyWhereRulesMayLookAtThem) {
  expect_hop(80);
  expect_hop(443);
  EXPECT_EQ(container_->routes_asked, 1);
  middle_->rules = with_port_dropped(core::Hook::forward, 25);
  middle_->event = true;
  expect_hop(80);
  expect_hop(443);
  expect_hop(80);
  EXPECT_EQ(container_->routes_asked, 3);
}

// The end of the veth may be a port of a bridge: then the rules see the bridge.
TEST_F(PathTest, RulesOfTheMiddleSeeTheDeviceThatItComesInBy) {
  middle_->rules = with_device_dropped("docker0");
  expect_hop();
  middle_->devices[7].master = 9;
  middle_->event = true;
  middle_->devices[9] = {9, "docker0", DeviceKind::bridge, 0, false};
  expect_stay(Reason::filtered);
  middle_->devices[9].name = "docker1";
  middle_->event = true;
  expect_hop();
  middle_->devices[9].kind = DeviceKind::other;
  middle_->event = true;
  expect_stay(Reason::filtered);
}

TEST_F(PathTest, RulesThatDidNotChangeKeepTheAnswers) {
  expect_hop();
  time_ += milliseconds(1001);
  expect_hop();
  EXPECT_EQ(container_->rules_asked, 2);
  EXPECT_EQ(container_->routes_asked, 1);
}

TEST_F(PathTest, RulesThatCannotBeReadStay) {
  container_->rules = Error{EPERM, "fake", {}};
  expect_stay(Reason::filtered);
}

TEST_F(PathTest, SilentRulesAreSeenWithinASecond) {
  expect_hop();
  container_->rules = NamespaceRules::not_readable();
  expect_hop();
  time_ += milliseconds(1001);
  expect_stay(Reason::filtered);
}

TEST_F(PathTest, HostRouteDecidesTheDevice) {
  host_->answer->several_paths = true;
  expect_stay(Reason::several_paths);
  host_->answer = core::RouteAnswer{};
  host_->event = true;
  expect_stay(Reason::host_no_route);
  host_->answer = core::RouteAnswer{RouteKind::local, 1, {}, {}, false, false};
  host_->devices[1] = {1, "lo", DeviceKind::loopback, 0, false};
  host_->event = true;
  expect_stay(Reason::host_address);
}

TEST_F(PathTest, ForgottenDestinationIsAskedAgain) {
  expect_hop();
  finder_->forget(far_);
  expect_hop();
  EXPECT_EQ(host_->routes_asked, 2);
}

TEST_F(PathTest, ErrorsAreNotRemembered) {
  host_->devices.clear();
  expect_stay(Reason::daemon_error);
  host_->devices[4] = {4, "wan", DeviceKind::other, 0, false};
  expect_hop();
}

TEST_F(PathTest, ContainerThatChangesRoutesAllTheTimeRunsOutOfBudget) {
  container_->cost = &cpu_;
  for (int i = 0; i < 3; ++i) {
    container_->event = true;
    expect_hop();
  }
  container_->event = true;
  expect_stay(Reason::over_budget);
  time_ += milliseconds(1001);
  expect_hop();
}

TEST_F(PathTest, CacheIsBounded) {
  for (int i = 0; i < 1000; ++i) {
    finder_->find({Address::v4(203, 0, static_cast<std::uint8_t>(i >> 8),
                               static_cast<std::uint8_t>(i & 0xff)),
                   443, 0});
  }
  expect_hop();
  EXPECT_EQ(container_->routes_asked, 1001);
}

TEST_F(PathTest, HostAloneIgnoresTheContainersRoutes) {
  container_->answer = core::RouteAnswer{};
  expect_stay(Reason::no_route);
  const auto path = finder_->find_on_host(far_);
  ASSERT_TRUE(std::holds_alternative<core::HostPath>(path));
  EXPECT_EQ(std::get<core::HostPath>(path).device, 4);
}

TEST_F(PathTest, NeighboursOfPastaHopButItsGatewayStays) {
  auto pasta = uplink();
  pasta.kind = core::UplinkKind::pasta;
  finder_->set_uplinks({pasta});
  middle_->own = {address("10.9.0.2")};
  host_->own = {address("10.9.0.2"), address("127.0.0.1")};
  const core::RouteAnswer on_link{RouteKind::unicast, 3, {}, address("10.9.0.2"), false, false};
  middle_->special[far_] = on_link;
  middle_->special[address("203.0.113.1")] = via("203.0.113.254", 3, "10.9.0.2");
  expect_hop();
  middle_->special[address("203.0.113.1")] = via("203.0.113.9", 3, "10.9.0.2");
  middle_->event = true;
  expect_stay(Reason::uplink_maps_it);
  middle_->own = {address("10.0.2.100")};
  middle_->special[address("203.0.113.1")] = via("203.0.113.254", 3, "10.9.0.2");
  middle_->event = true;
  expect_stay(Reason::on_link);
}

TEST_F(PathTest, ExplainTellsEachPlace) {
  const auto steps = finder_->explain({far_, 443, 0});
  ASSERT_EQ(steps.size(), 4U);
  EXPECT_EQ(steps[0].where, "container");
  EXPECT_EQ(steps[0].what, "a route through eth0 by 10.4.0.1, source 10.4.0.2");
  EXPECT_EQ(steps[1].where, "middle");
  EXPECT_EQ(steps[2].where, "host");
  EXPECT_EQ(steps[3].what, "hops, bound to wan");
}

}  // namespace
}  // namespace sockhop::engine
