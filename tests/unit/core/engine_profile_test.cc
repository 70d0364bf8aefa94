#include "core/engine_profile.h"

#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <fstream>
#include <iterator>

#include "core/profile.h"

namespace sockhop::core {
namespace {

namespace json = boost::json;
using testing::ElementsAre;
using testing::HasSubstr;

std::string with_entries(const std::string& entries) {
  return R"({"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":38,"defaultErrno":"ENOSYS",
    "archMap":[{"architecture":"SCMP_ARCH_AARCH64","subArchitectures":["SCMP_ARCH_ARM"]},
               {"architecture":"SCMP_ARCH_X86_64","subArchitectures":["SCMP_ARCH_X86"]}],
    "syscalls":[)" +
         entries + "]}";
}

json::object converted(const std::string& profile, const ProfileConditions& conditions = {}) {
  return json::parse(engine_profile_to_oci(profile, conditions).value()).as_object();
}

/// The names of the rules that hold, in order.
std::vector<std::string> names_of(const std::string& entries,
                                  const ProfileConditions& conditions = {}) {
  std::vector<std::string> out;
  const json::object section = converted(with_entries(entries), conditions);
  for (const json::value& rule : section.at("syscalls").as_array()) {
    for (const json::value& name : rule.at("names").as_array()) {
      out.emplace_back(name.as_string());
    }
  }
  return out;
}

TEST(EngineProfile, WhatAnEngineAddsIsLeftOut) {
  const auto section = converted(with_entries(
      R"({"names":["read"],"action":"SCMP_ACT_ALLOW","args":[],"comment":"x","includes":{},
          "excludes":{}},
         {"names":["socket"],"action":"SCMP_ACT_ERRNO","errnoRet":22,"errno":"EINVAL",
          "args":[{"index":0,"value":16,"valueTwo":0,"op":"SCMP_CMP_EQ"}]})"));
  EXPECT_EQ(json::serialize(section),
            R"({"defaultAction":"SCMP_ACT_ERRNO","architectures":["SCMP_ARCH_X86_64",)"
            R"("SCMP_ARCH_X86"],"defaultErrnoRet":38,"syscalls":[{"names":["read"],)"
            R"("action":"SCMP_ACT_ALLOW"},{"names":["socket"],"action":"SCMP_ACT_ERRNO",)"
            R"("args":[{"index":0,"value":16,"valueTwo":0,"op":"SCMP_CMP_EQ"}],"errnoRet":22}]})");
}

TEST(EngineProfile, Conditions) {
  const std::string entries =
      R"({"names":["bpf"],"action":"SCMP_ACT_ALLOW","includes":{"caps":["CAP_SYS_ADMIN"]}},
         {"names":["no_bpf"],"action":"SCMP_ACT_ERRNO","excludes":{"caps":["CAP_SYS_ADMIN"]}},
         {"names":["both"],"action":"SCMP_ACT_ALLOW","includes":{"caps":["CAP_SYS_ADMIN","CAP_BPF"]}},
         {"names":["arm"],"action":"SCMP_ACT_ALLOW","includes":{"arches":["arm","arm64"]}},
         {"names":["x86"],"action":"SCMP_ACT_ALLOW","includes":{"arches":["amd64","x32"]}},
         {"names":["not_x86"],"action":"SCMP_ACT_ALLOW","excludes":{"arches":["amd64"]}},
         {"name":"ptrace","action":"SCMP_ACT_ALLOW","includes":{"minKernel":"4.8"}})";
  EXPECT_THAT(names_of(entries, {{}, "4.7.9"}), ElementsAre("no_bpf", "x86"));
  EXPECT_THAT(names_of(entries, {{"CAP_SYS_ADMIN"}, "6.1.0"}), ElementsAre("bpf", "x86", "ptrace"));
  EXPECT_THAT(names_of(entries, {{"CAP_BPF", "CAP_SYS_ADMIN"}, "4.8"}),
              ElementsAre("bpf", "both", "x86", "ptrace"));
}

TEST(EngineProfile, WhatIsNoProfile) {
  const auto refusal = [](const std::string& profile) {
    const auto out = engine_profile_to_oci(profile, {});
    return out ? "accepted" : to_string(out.error());
  };
  EXPECT_THAT(refusal("{}"), HasSubstr("no defaultAction"));
  EXPECT_THAT(refusal("x"), HasSubstr("engine profile"));
  EXPECT_THAT(refusal(with_entries("1")), HasSubstr("syscalls[0] is not an object"));
  EXPECT_THAT(refusal(with_entries(R"({"action":"SCMP_ACT_ALLOW"})")), HasSubstr("has no names"));
}

TEST(EngineProfile, WhoHasNone) {
  for (const char* none :
       {"{}", R"({"linux":{}})", R"({"linux":{"seccomp":null}})", R"({"linux":{"seccomp":{}}})",
        R"({"linux":{"seccomp":{"syscalls":[]}}})"}) {
    EXPECT_FALSE(has_profile(none).value()) << none;
  }
  EXPECT_TRUE(has_profile(R"({"linux":{"seccomp":{"defaultAction":"SCMP_ACT_ALLOW"}}})").value());
  EXPECT_TRUE(has_profile(R"({"linux":{"seccomp":{"syscalls":[{}]}}})").value());
  EXPECT_FALSE(has_profile("[]"));
}

TEST(EngineProfile, IsPutForTheCapabilitiesOfTheContainer) {
  const std::string profile = with_entries(
      R"({"names":["bpf"],"action":"SCMP_ACT_ALLOW","includes":{"caps":["CAP_BPF"]}})");
  const auto rules = [&](const std::string& config) {
    const auto out = put_engine_profile(config, profile, "6.1.0").value();
    return json::parse(out).at("linux").at("seccomp").at("syscalls").as_array().size();
  };
  EXPECT_EQ(rules(R"({"process":{"capabilities":{"bounding":["CAP_BPF"]}}})"), 1u);
  EXPECT_EQ(rules(R"({"process":{"capabilities":{"effective":["CAP_BPF"]}}})"), 0u);
  EXPECT_EQ(rules(R"({"process":{},"linux":{"seccomp":null}})"), 0u);
  EXPECT_FALSE(put_engine_profile(R"({"linux":1})", profile, "6.1.0"));
}

TEST(EngineProfile, TheInstalledOneTakesOurRules) {
  std::ifstream file(SOCKHOP_SOURCE_DIR "/hook/seccomp.json");
  const std::string profile(std::istreambuf_iterator<char>(file), {});
  const auto config = put_engine_profile("{}", profile, "6.1.0");
  ASSERT_TRUE(config);
  ProfileOptions options;
  options.listener_path = "/s";
  const auto applied = apply_profile(*config, options);
  ASSERT_TRUE(applied) << to_string(applied.error());
  EXPECT_EQ(json::parse(*applied).at("linux").at("seccomp").at("defaultAction").as_string(),
            "SCMP_ACT_ERRNO");
}

}  // namespace
}  // namespace sockhop::core
