#include "core/runtime_config.h"

#include <gmock/gmock.h>

namespace sockhop::core {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& text) {
  const auto config = parse_runtime_config(text);
  return config ? "accepted" : to_string(config.error());
}

TEST(RuntimeConfig, EveryKey) {
  const auto config = parse_runtime_config(R"(
    runtime = "/usr/bin/crun"
    required = true
    quiet = true
    allow-io-uring = true
    patience = 1.5
    default-profile = "/etc/seccomp.json")");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->runtime, "/usr/bin/crun");
  EXPECT_TRUE(config->required && config->quiet && config->allow_io_uring);
  EXPECT_EQ(config->patience.count(), 1500);
  EXPECT_EQ(config->default_profile, "/etc/seccomp.json");
  EXPECT_EQ(parse_runtime_config("patience = 2")->patience.count(), 2000);
  EXPECT_TRUE(parse_runtime_config("")->runtime.empty());
}

TEST(RuntimeConfig, RefusalsNameLineAndKey) {
  EXPECT_THAT(refusal("\nruntme = \"crun\""), HasSubstr("line 2: there is no key runtme; runtime"));
  EXPECT_THAT(refusal("runtime = 1"), HasSubstr("runtime must be a string"));
  EXPECT_THAT(refusal("runtime = \"\""), HasSubstr("not empty"));
  EXPECT_THAT(refusal("required = \"yes\""), HasSubstr("required must be true or false"));
  EXPECT_THAT(refusal("runtime = "), HasSubstr("line 1"));
  for (const char* bad : {"0", "-1", "5", "60", "nan", "inf", "\"2\"", "true"}) {
    EXPECT_THAT(refusal(std::string("patience = ") + bad), HasSubstr("0.1 to 4.5")) << bad;
  }
}

TEST(RuntimeConfig, TheNameTellsTheRuntime) {
  EXPECT_EQ(runtime_behind("sockhop-crun"), "crun");
  EXPECT_EQ(runtime_behind("sockhop-runc"), "runc");
  EXPECT_EQ(runtime_behind("crun"), "crun");
  EXPECT_EQ(runtime_behind("sockhop-runtime"), "");
}

TEST(RuntimeConfig, WhoSetsWaitKillable) {
  const std::string runc =
      "runc version 1.1.5+ds1\ncommit: x\nspec: 1.0.2-dev\nlibseccomp: 2.6.0\n";
  const std::string new_runc = "runc version 1.5.0\nspec: 1.3.0\nlibseccomp: 2.6.0\n";
  const std::string old_library = "runc version 1.5.0\nspec: 1.3.0\nlibseccomp: 2.5.4\n";
  const std::string crun = "crun version 1.8.1\ncommit: f8a0\n";
  EXPECT_FALSE(runtime_sets_wait_killable(runc, "6.18.0"));
  EXPECT_TRUE(runtime_sets_wait_killable(new_runc, "6.18.0"));
  EXPECT_FALSE(runtime_sets_wait_killable(old_library, "6.18.0"));
  EXPECT_TRUE(runtime_sets_wait_killable(crun, "5.19.0"));
  EXPECT_FALSE(runtime_sets_wait_killable(crun, "5.18.9"));
  EXPECT_FALSE(runtime_sets_wait_killable("crun version 1.5\n", "6.18.0"));
  for (const char* other : {"", "youki version 0.3.0", "runc version x", "crun version "}) {
    EXPECT_FALSE(runtime_sets_wait_killable(other, "6.18.0")) << other;
  }
}

}  // namespace
}  // namespace sockhop::core
