// The example configuration is read as it lies in examples/.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/config.h"

namespace sockhop::core {
namespace {

TEST(ExampleConfig, IsWhatTheDaemonReads) {
  std::ifstream file(SOCKHOP_SOURCE_DIR "/examples/sockhop.toml");
  ASSERT_TRUE(file) << "examples/sockhop.toml is missing";
  std::stringstream text;
  text << file.rdbuf();
  const auto config = parse_config(text.str());
  ASSERT_TRUE(config) << to_string(config.error());
  ASSERT_EQ(config->policy.rules.size(), 2U);
  EXPECT_EQ(config->policy.rules[0].action, RuleAction::stay);
  EXPECT_EQ(config->policy.rules[1].action, RuleAction::deny);
  EXPECT_EQ(config->policy.rules[1].last_port, 1024);
}

TEST(ExampleConfig, OtherwiseShowsTheDefaults) {
  std::ifstream file(SOCKHOP_SOURCE_DIR "/examples/sockhop.toml");
  std::stringstream text;
  text << file.rdbuf();
  const auto shown = parse_config(text.str());
  const auto defaults = parse_config("");
  ASSERT_TRUE(shown && defaults);
  EXPECT_EQ(shown->policy.names_of_host, defaults->policy.names_of_host);
  EXPECT_EQ(shown->policy.udp_hop, defaults->policy.udp_hop);
  EXPECT_EQ(shown->policy.host_local_hop, defaults->policy.host_local_hop);
  EXPECT_EQ(shown->policy.strict, defaults->policy.strict);
  EXPECT_EQ(shown->policy.uplinks, defaults->policy.uplinks);
  EXPECT_EQ(shown->without, defaults->without);
}

}  // namespace
}  // namespace sockhop::core
