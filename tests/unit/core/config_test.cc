#include "core/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/kernel_version.h"

namespace sockhop::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(std::string_view text) {
  const auto config = parse_config(text);
  return config ? "" : config.error().detail;
}

TEST(Config, AnEmptyFileIsTheDefaults) {
  const auto config = parse_config("# nothing\n");
  ASSERT_TRUE(config);
  EXPECT_TRUE(config->policy.accelerate);
  EXPECT_FALSE(config->policy.names_of_host);
  EXPECT_FALSE(config->policy.host_local_hop);
  EXPECT_FALSE(config->policy.strict);
  EXPECT_TRUE(config->policy.rules.empty());
}

TEST(Config, EveryKeyIsRead) {
  const auto config = parse_config(R"(
    rules = ["stay 10.0.0.0/8", "deny 203.0.113.0/24:1-1024/tcp"]
    names = "host"
    host-local = "hop"
    strict = true
    uplinks = ["tap7"]
    without = ["sync-wake-up", "pidfd-thread"]
  )");
  ASSERT_TRUE(config) << config.error().detail;
  ASSERT_EQ(config->policy.rules.size(), 2u);
  EXPECT_EQ(to_string(config->policy.rules[1]), "deny 203.0.113.0/24:1-1024/tcp");
  EXPECT_TRUE(config->policy.names_of_host);
  EXPECT_TRUE(config->policy.host_local_hop);
  EXPECT_TRUE(config->policy.strict);
  EXPECT_THAT(config->policy.uplinks, ElementsAre("tap7"));
  EXPECT_THAT(config->without, ElementsAre("sync-wake-up", "pidfd-thread"));
}

TEST(Config, RefusalsNameLineAndRemedy) {
  EXPECT_THAT(refusal("\nrules = [\n"), HasSubstr("line"));
  EXPECT_THAT(refusal("\n\nnames = \"mine\""),
              HasSubstr("line 3: names must be container or host"));
  EXPECT_THAT(refusal("colour = \"red\""), HasSubstr("there is no option \"colour\""));
  EXPECT_THAT(refusal("rules = \"stay ::/0\""), HasSubstr("rules must be a list of strings"));
  EXPECT_THAT(refusal("rules = [7]"), HasSubstr("rules must hold strings only"));
  EXPECT_THAT(refusal("rules = [\"go away\"]"), HasSubstr("line 1: rule \"go away\""));
  EXPECT_THAT(refusal("strict = 1"), HasSubstr("strict must be a string, true or false"));
  EXPECT_THAT(refusal("without = [\"epoll\"]"), HasSubstr("sync-wake-up"));
  EXPECT_THAT(refusal("accelerate = false"), HasSubstr("there is no option"));
}

TEST(Config, AContainersRulesComeFirst) {
  const auto config = parse_config("rules = [\"deny 0.0.0.0/0\"]");
  ASSERT_TRUE(config);
  const auto policy = policy_for(*config, {*parse_rule("hop 198.51.100.0/24")}, false);
  ASSERT_EQ(policy.rules.size(), 2u);
  EXPECT_EQ(policy.rules[0].action, RuleAction::hop);
  EXPECT_EQ(policy.rules[1].action, RuleAction::deny);
  EXPECT_FALSE(policy.accelerate);
}

TEST(KernelVersion, FiveFourteenIsTheFloor) {
  EXPECT_FALSE(kernel_is_new_enough("5.13.19"));
  EXPECT_FALSE(kernel_is_new_enough("4.18.0-553.el8"));
  EXPECT_TRUE(kernel_is_new_enough("5.14.0-1-amd64"));
  EXPECT_TRUE(kernel_is_new_enough("6.1"));
  EXPECT_TRUE(kernel_is_new_enough("10.2.3"));
  EXPECT_TRUE(kernel_is_new_enough("some-kernel"));
}

}  // namespace
}  // namespace sockhop::core
