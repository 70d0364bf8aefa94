// Who may be under a Landlock domain: a world of processes as a table.
#include "core/lineage.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

namespace sockhop::core {
namespace {

constexpr std::uint64_t kCall = 1000;  // when the caller of these tests restricts itself

/// What is alive. 1 begins the namespace of the daemon, 10 the container's.
class World {
 public:
  World() {
    add(1, 0, 1).begins_namespace = true;
    add(5, 1, 50);  // the runtime's shim
    add(10, 5, 100).begins_namespace = true;
    add(20, 10, 200);  // a shell
    add(30, 20, 300);  // the caller
    add(40, 20, 400);  // its sibling
  }
  ThreadFacts& add(std::int32_t id, std::int32_t parent, std::uint64_t start) {
    return all_[id] = {.process = {id, start}, .parent = parent, .no_new_privs = true};
  }
  ThreadFacts& at(std::int32_t id) { return all_.at(id); }
  void end(std::int32_t id) { all_.erase(id); }
  /// Runs before each look-up.
  std::function<void()> meanwhile = [] {};

  void restrict(std::int32_t id, std::uint64_t now = kCall) {
    note_restriction(*restrictions_, at(id), now, lookup());
  }
  bool stays(std::int32_t id) { return may_be_restricted(*restrictions_, at(id), lookup()); }
  [[nodiscard]] const Restrictions& restrictions() const { return *restrictions_; }

 private:
  ProcessLookup lookup() {
    return [this](std::int32_t id) -> std::optional<ThreadFacts> {
      meanwhile();
      const auto found = all_.find(id);
      return found == all_.end() ? std::nullopt : std::optional(found->second);
    };
  }
  std::map<std::int32_t, ThreadFacts> all_;
  std::unique_ptr<Restrictions> restrictions_ = std::make_unique<Restrictions>();
};

TEST(Lineage, NobodyIsRestrictedWhileNobodyCalled) {
  World world;
  world.add(50, 10, 2000);
  EXPECT_FALSE(world.stays(50));
}

TEST(Lineage, TheCallerAndItsChildrenStay) {
  World world;
  world.restrict(30);
  world.add(31, 30, kCall);
  world.add(32, 31, 3000);
  EXPECT_TRUE(world.stays(30));
  EXPECT_TRUE(world.stays(31));
  EXPECT_TRUE(world.stays(32));
}

TEST(Lineage, WhoIsOlderHops) {
  World world;
  world.restrict(30);
  for (const int id : {10, 20, 40}) EXPECT_FALSE(world.stays(id)) << id;
}

TEST(Lineage, TheFamilyOfAnOlderStrangerHops) {
  World world;
  world.restrict(30);
  world.add(41, 40, 2000);
  world.add(42, 41, 3000);
  EXPECT_FALSE(world.stays(41));
  EXPECT_FALSE(world.stays(42));
}

TEST(Lineage, AnOrphanStaysWhicheverAncestorHasIt) {
  World world;
  world.restrict(30);
  world.add(33, 30, 2000);
  // Its parents end; then it is the container's first process's, the shim's (prctl(2),
  // PR_SET_CHILD_SUBREAPER), or by CLONE_PARENT the shell's.
  for (const int heir : {10, 5, 20}) {
    world.at(33).parent = heir;
    EXPECT_TRUE(world.stays(33)) << heir;
  }
  world.end(30);
  EXPECT_TRUE(world.stays(33));
  world.add(34, 33, 3000);
  EXPECT_TRUE(world.stays(34));
}

TEST(Lineage, AnOrphanOfACallerThatTheRuntimeBroughtStays) {
  World world;
  world.add(50, 5, 500);  // exec into the container: its parent is outside
  world.restrict(50);
  world.add(51, 10, 2000);  // given to the container's first process, which is no ancestor
  EXPECT_TRUE(world.stays(51));
}

TEST(Lineage, WithoutNoNewPrivsItIsNoRelative) {
  World world;
  world.restrict(30);
  world.add(50, 10, 2000).no_new_privs = false;
  EXPECT_FALSE(world.stays(50));
  // Unless a caller did without.
  world.at(40).no_new_privs = false;
  world.restrict(40);
  EXPECT_TRUE(world.stays(50));
}

TEST(Lineage, AnIdThatIsUsedAgainIsSomebodyElse) {
  World world;
  world.restrict(30);
  world.end(30);
  world.add(30, 40, 2000);
  EXPECT_FALSE(world.stays(30));
}

TEST(Lineage, WhatCannotBeSeenStays) {
  World world;
  world.restrict(30);
  world.add(60, 59, 2000);
  EXPECT_TRUE(world.stays(60));
  world.add(61, 0, 2000);
  EXPECT_TRUE(world.stays(61));
}

TEST(Lineage, AnAncestorOutOfSightIsKnownByItsId) {
  World world;
  world.end(5);
  world.restrict(30);
  EXPECT_EQ(world.restrictions().everybody, 0u);
  world.add(5, 1, 50);
  world.add(60, 5, 2000);
  EXPECT_TRUE(world.stays(60));
}

TEST(Lineage, AnAncestorThatEndsMeanwhileIsLeftOut) {
  World world;
  int looks = 0;
  world.meanwhile = [&] {
    if (++looks != 3) return;
    world.end(20);
    world.at(30).parent = 10;
    world.at(40).parent = 10;
  };
  world.restrict(30);
  EXPECT_EQ(world.restrictions().everybody, 0u);
  world.add(31, 10, 2000);
  world.add(41, 40, 2000);
  EXPECT_TRUE(world.stays(31));
  EXPECT_FALSE(world.stays(41));
}

TEST(Lineage, AParentThatChangesUnderTheQuestionStays) {
  World world;
  world.restrict(30);
  world.add(41, 40, 2000);
  world.meanwhile = [&] { world.at(41).parent = 10; };
  EXPECT_TRUE(may_be_restricted(world.restrictions(), ThreadFacts{{41, 2000}, 40, false, true},
                                [&](int id) {
                                  world.meanwhile();
                                  return std::optional(world.at(id));
                                }));
}

TEST(Lineage, EndedOnesMakeRoom) {
  World world;
  for (int id = 1000; id < 1000 + 4 * static_cast<int>(kMaxRelatives); ++id) {
    world.add(id, 20, 500);
    world.restrict(id);
    world.end(id);
  }
  EXPECT_EQ(world.restrictions().everybody, 0u);
  world.add(41, 40, 2000);
  EXPECT_FALSE(world.stays(41));
}

TEST(Lineage, TooManyMakeEverybodyStayWhoIsYounger) {
  World world;
  for (int id = 1000; id < 1000 + static_cast<int>(kMaxRelatives); ++id) {
    world.add(id, 20, 500);
    world.restrict(id);
  }
  EXPECT_EQ(world.restrictions().everybody, 1u);
  world.add(41, 40, 2000);
  EXPECT_TRUE(world.stays(41));
  EXPECT_FALSE(world.stays(40));
}

TEST(Lineage, ItTakesARight) {
  ThreadFacts facts{};
  EXPECT_FALSE(can_restrict(facts));
  facts.no_new_privs = true;
  EXPECT_TRUE(can_restrict(facts));
  facts = {};
  facts.is_admin = true;
  EXPECT_TRUE(can_restrict(facts));
}

constexpr const char* kStatus =
    "Name:\tTgid:\\n PPid:\t9\nTgid:\t812\nPid:\t815\nPPid:\t7\nNSpid:\t812\t1\n"
    "CapEff:\t00000000a80425fb\nNoNewPrivs:\t1\nSeccomp:\t2\n";
constexpr const char* kStat =
    "812 (a) R 5 6) S 7 812 812 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 2 0 777 1 2 3";

TEST(Lineage, FactsAreRead) {
  const auto facts = parse_thread_facts(kStatus, kStat).value();
  EXPECT_EQ(facts.process, (ProcessName{812, 777}));
  EXPECT_EQ(facts.parent, 7);
  EXPECT_TRUE(facts.begins_namespace);
  EXPECT_TRUE(facts.no_new_privs);
  EXPECT_FALSE(facts.is_admin);
  const std::string admin =
      std::string(kStatus).replace(std::string(kStatus).find("a80425fb"), 8, "00200000");
  EXPECT_TRUE(parse_thread_facts(admin, kStat)->is_admin);
}

TEST(Lineage, HalfOfTheFactsAreNone) {
  EXPECT_FALSE(parse_thread_facts("", ""));
  EXPECT_FALSE(parse_thread_facts(kStatus, "812 (a"));
  EXPECT_FALSE(parse_thread_facts(kStatus, "812 (a) S 7 8"));
  EXPECT_FALSE(parse_thread_facts("Tgid:\t\nPPid:\tx\n", kStat));
}

}  // namespace
}  // namespace sockhop::core
