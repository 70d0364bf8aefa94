#include "core/profile.h"

#include <gmock/gmock.h>

#include <boost/json.hpp>

namespace sockhop::core {
namespace {

namespace json = boost::json;
using testing::HasSubstr;

constexpr const char* kSocket = "/run/user/1000/sockhop/seccomp.sock";

Result<std::string> apply_to(const std::string& config, ProfileOptions options = {}) {
  options.listener_path = kSocket;
  return apply_profile(config, options);
}

json::object section_of(const std::string& config) {
  return json::parse(config).at("linux").at("seccomp").as_object();
}

std::string with_section(const std::string& section) {
  return R"({"ociVersion":"1.0.2","linux":{"seccomp":)" + section + "}}";
}

json::object applied(const std::string& section, const ProfileOptions& options = {}) {
  return section_of(apply_to(with_section(section), options).value());
}

std::string refusal(const std::string& config) {
  const auto out = apply_to(config);
  return out ? "accepted" : to_string(out.error());
}

std::vector<json::object> rules_of(const json::object& section, std::string_view name) {
  std::vector<json::object> out;
  for (const json::value& rule : section.at("syscalls").as_array()) {
    for (const json::value& each : rule.at("names").as_array()) {
      if (each.as_string() == name) out.push_back(rule.as_object());
    }
  }
  return out;
}

/// "NOTIFY", "ALLOW+args", ... of every rule that names the call.
std::vector<std::string> actions_of(const json::object& section, std::string_view name) {
  std::vector<std::string> out;
  for (const json::object& rule : rules_of(section, name)) {
    std::string action(rule.at("action").as_string());
    action.erase(0, std::string_view("SCMP_ACT_").size());
    out.push_back(action + (rule.contains("args") ? "+args" : ""));
  }
  return out;
}

using Actions = std::vector<std::string>;
constexpr const char* kRefuseAll = R"({"defaultAction":"SCMP_ACT_ERRNO","syscalls":[]})";

std::string allowing(const std::string& name, const std::string& extra = "") {
  return R"({"defaultAction":"SCMP_ACT_ERRNO","syscalls":[{"names":["read",")" + name +
         R"("],"action":"SCMP_ACT_ALLOW"}])" + extra + "}";
}

TEST(Profile, WithoutSectionAllowsAsBeforeAndNotifies) {
  for (const char* config :
       {"{}", R"({"linux":{}})", R"({"linux":{"seccomp":null}})", R"({"linux":{"seccomp":{}}})"}) {
    const auto out = apply_to(config);
    ASSERT_TRUE(out) << config;
    const json::object section = section_of(*out);
    EXPECT_EQ(section.at("defaultAction").as_string(), "SCMP_ACT_ALLOW");
    EXPECT_EQ(actions_of(section, "connect"), Actions{"NOTIFY"});
  }
}

TEST(Profile, NumbersDoNotDrift) {
  for (const char* number :
       {"0.1", "1e18", "7.78E49", "77799999999999999999999999999999999999999999999905",
        "1.7976931348623157e308", "18446744073709551615", "5e-324"}) {
    const std::string config =
        R"({"odd":)" + std::string(number) +
        R"(,"linux":{"seccomp":{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["ioctl"],)"
        R"("action":"SCMP_ACT_ERRNO","args":[{"index":1,"value":18446744073709551615,)"
        R"("op":"SCMP_CMP_EQ"}]}]}}})";
    const std::string once = apply_to(config).value();
    EXPECT_EQ(apply_to(once).value(), once) << number;
  }
  EXPECT_THAT(refusal(R"({"odd":1e999})"), HasSubstr("out of range"));
}

TEST(Profile, NotifiesEachUnconditionalCall) {
  const json::object section = applied(R"({"defaultAction":"SCMP_ACT_ALLOW"})");
  for (const char* name :
       {"connect", "bind", "listen", "accept", "accept4", "getsockname", "epoll_create",
        "epoll_create1", "landlock_restrict_self", "socketcall"}) {
    EXPECT_EQ(actions_of(section, name), Actions{"NOTIFY"}) << name;
  }
  for (const char* name : {"close", "fcntl", "read", "socket", "dup", "exit_group"}) {
    EXPECT_EQ(actions_of(section, name), Actions{}) << name;
  }
}

TEST(Profile, SetsListenerAndArchitectures) {
  const json::object section = applied(
      R"({"defaultAction":"SCMP_ACT_ALLOW","architectures":["SCMP_ARCH_X86","SCMP_ARCH_ARM"]})");
  EXPECT_EQ(section.at("listenerPath").as_string(), kSocket);
  EXPECT_EQ(json::serialize(section.at("architectures")),
            R"(["SCMP_ARCH_X86","SCMP_ARCH_ARM","SCMP_ARCH_X86_64","SCMP_ARCH_X32"])");
  EXPECT_FALSE(section.contains("flags"));
}

TEST(Profile, SetsWaitKillableOnlyWhenAsked) {
  const json::object section = applied(R"({"defaultAction":"SCMP_ACT_ALLOW"})",
                                       {.listener_path = {}, .wait_killable = true});
  EXPECT_EQ(json::serialize(section.at("flags")), R"(["SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"])");
}

TEST(Profile, LeavesRefusedCallsRefused) {
  const json::object section = applied(kRefuseAll);
  for (const char* name : {"connect", "sendto", "ioctl", "getsockopt", "io_uring_setup"}) {
    EXPECT_EQ(actions_of(section, name), Actions{}) << name;
  }
  const json::object by_rule = applied(
      R"({"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["connect","sendto","io_uring_setup"],)"
      R"("action":"SCMP_ACT_ERRNO","errnoRet":1}]})");
  EXPECT_EQ(actions_of(by_rule, "connect"), Actions{"ERRNO"});
  EXPECT_EQ(actions_of(by_rule, "sendto"), Actions{"ERRNO"});
  EXPECT_EQ(actions_of(by_rule, "io_uring_setup"), Actions{"ERRNO"});
}

TEST(Profile, TakesAllowedCallsOutOfTheirRule) {
  const json::object section = applied(allowing("connect"));
  EXPECT_EQ(actions_of(section, "connect"), Actions{"NOTIFY"});
  EXPECT_EQ(actions_of(section, "read"), Actions{"ALLOW"});
}

TEST(Profile, AllowsTheComplementOfAScalarCondition) {
  EXPECT_EQ(actions_of(applied(allowing("sendto")), "sendto"),
            (Actions{"NOTIFY+args", "ALLOW+args"}));
  const json::object ioctl = applied(allowing("ioctl"));
  EXPECT_EQ(actions_of(ioctl, "ioctl").size(),
            25u);  // one rule for each bit of 0xffffff00, and ours
  const json::value masked = rules_of(ioctl, "ioctl").front().at("args").at(0);
  EXPECT_EQ(json::serialize(masked),
            R"({"index":1,"value":4294967040,"op":"SCMP_CMP_MASKED_EQ","valueTwo":35072})");
  EXPECT_EQ(actions_of(applied(R"({"defaultAction":"SCMP_ACT_ALLOW"})"), "ioctl"),
            Actions{"NOTIFY+args"});
}

TEST(Profile, KeepsTheConditionsOfThePermission) {
  const json::object section =
      applied(R"({"defaultAction":"SCMP_ACT_ERRNO","syscalls":[{"names":["connect"],)"
              R"("action":"SCMP_ACT_ALLOW","args":[{"index":2,"value":16,"op":"SCMP_CMP_LE"}]}]})");
  ASSERT_EQ(actions_of(section, "connect"), Actions{"NOTIFY+args"});
  EXPECT_EQ(json::serialize(rules_of(section, "connect").front().at("args")),
            R"([{"index":2,"value":16,"op":"SCMP_CMP_LE"}])");
}

TEST(Profile, NotifiesBesideARefusalThatExcludesOurs) {
  // The usual way to forbid TIOCSTI.
  const json::object section = applied(
      R"({"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["ioctl"],"action":"SCMP_ACT_ERRNO",)"
      R"("args":[{"index":1,"value":4294967295,"valueTwo":21522,"op":"SCMP_CMP_MASKED_EQ"}]}]})");
  EXPECT_EQ(actions_of(section, "ioctl"), (Actions{"NOTIFY+args", "ERRNO+args"}));
}

TEST(Profile, LeavesAloneWhatRulesCannotSay) {
  const std::string section =
      R"({"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["sendto"],"action":"SCMP_ACT_ERRNO",)"
      R"("args":[{"index":3,"value":5,"op":"SCMP_CMP_GT"}]}]})";
  EXPECT_EQ(actions_of(applied(section), "sendto"), Actions{"ERRNO+args"});
}

TEST(Profile, LeavesAloneWhatHasTooManyConditions) {
  std::string rules;
  for (int i = 0; i < 5000; ++i) {
    rules += std::string(rules.empty() ? "" : ",") +
             R"({"names":["sendto"],"action":"SCMP_ACT_ERRNO","args":[{"index":0,"value":)" +
             std::to_string(i) + R"(,"op":"SCMP_CMP_EQ"}]})";
  }
  const json::object section =
      applied(R"({"defaultAction":"SCMP_ACT_ALLOW","syscalls":[)" + rules + "]}");
  EXPECT_EQ(rules_of(section, "sendto").size(), 5000u);
  EXPECT_EQ(actions_of(section, "connect"), Actions{"NOTIFY"});
}

TEST(Profile, KeepsLoggingWhereItPermits) {
  const json::object section = applied(
      R"({"defaultAction":"SCMP_ACT_ERRNO","syscalls":[{"names":["sendmsg"],"action":"SCMP_ACT_LOG"}]})");
  EXPECT_EQ(actions_of(section, "sendmsg"), (Actions{"NOTIFY+args", "LOG+args"}));
}

TEST(Profile, AnswersIoUringWithEnosysUnlessToldOtherwise) {
  const json::object section = applied(allowing("io_uring_enter"));
  ASSERT_EQ(actions_of(section, "io_uring_enter"), Actions{"ERRNO"});
  EXPECT_EQ(rules_of(section, "io_uring_enter").front().at("errnoRet").as_int64(), 38);
  const json::object kept =
      applied(allowing("io_uring_enter"), {.listener_path = {}, .refuse_io_uring = false});
  EXPECT_EQ(actions_of(kept, "io_uring_enter"), Actions{"ALLOW"});
}

TEST(Profile, IsIdempotent) {
  for (const std::string& config :
       {std::string("{}"), with_section(allowing("ioctl")), with_section(allowing("connect"))}) {
    const auto once = apply_to(config);
    ASSERT_TRUE(once);
    const auto twice = apply_to(*once);
    ASSERT_TRUE(twice);
    EXPECT_EQ(*once, *twice);
  }
}

TEST(Profile, KeepsTheRestOfTheConfig) {
  const auto out = apply_to(
      R"({"ociVersion":"1.0.2","process":{"args":["a"],"rlimits":[{"hard":18446744073709551615}]},)"
      R"("linux":{"namespaces":[{"type":"pid"}],"seccomp":{"defaultAction":"SCMP_ACT_ALLOW",)"
      R"("listenerMetadata":"m"}},"hooks":null})");
  ASSERT_TRUE(out);
  EXPECT_THAT(*out, HasSubstr(R"("rlimits":[{"hard":18446744073709551615}])"));
  EXPECT_THAT(*out, HasSubstr(R"("namespaces":[{"type":"pid"}])"));
  EXPECT_THAT(*out, HasSubstr(R"("listenerMetadata":"m")"));
  EXPECT_THAT(*out, HasSubstr(R"("hooks":null)"));
}

TEST(Profile, RefusesAnotherListener) {
  EXPECT_THAT(refusal(with_section(R"({"defaultAction":"SCMP_ACT_ALLOW","listenerPath":"/x"})")),
              HasSubstr("already notifies /x"));
  const std::string notify = R"("syscalls":[{"names":["close"],"action":"SCMP_ACT_NOTIFY"}])";
  EXPECT_THAT(refusal(with_section(R"({"defaultAction":"SCMP_ACT_ALLOW",)" + notify + "}")),
              HasSubstr("another program"));
  EXPECT_THAT(refusal(with_section(R"({"defaultAction":"SCMP_ACT_ALLOW","listenerPath":")" +
                                   std::string(kSocket) + R"(",)" + notify + "}")),
              HasSubstr("another program"));
  EXPECT_THAT(refusal(with_section(R"({"defaultAction":"SCMP_ACT_NOTIFY"})")),
              HasSubstr("defaultAction"));
}

TEST(Profile, SaysWhatIsWrong) {
  EXPECT_THAT(refusal("{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(refusal(R"({"linux":[]})"), HasSubstr("linux is not an object"));
  EXPECT_THAT(refusal(with_section("7")), HasSubstr("seccomp is not an object"));
  const auto with_rule = [](const std::string& rule) {
    return with_section(R"({"defaultAction":"SCMP_ACT_ALLOW","syscalls":[)" + rule + "]}");
  };
  EXPECT_THAT(refusal(with_rule("7")), HasSubstr("syscalls[0] is not an object"));
  EXPECT_THAT(refusal(with_rule(R"({"action":"x"})")), HasSubstr("names"));
  EXPECT_THAT(refusal(with_rule(R"({"names":["a"]})")), HasSubstr("no action"));
  for (const char* argument :
       {"7", R"({"index":6,"value":0,"op":"SCMP_CMP_EQ"})", R"({"index":0,"value":0,"op":"EQ"})",
        R"({"index":0,"value":-1,"op":"SCMP_CMP_EQ"})", R"({"index":0,"op":"SCMP_CMP_EQ"})"}) {
    EXPECT_THAT(refusal(with_rule(R"({"names":["a"],"action":"SCMP_ACT_ALLOW","args":[)" +
                                  std::string(argument) + "]}")),
                HasSubstr("args"))
        << argument;
  }
  EXPECT_THAT(refusal(with_section(R"({"syscalls":[{"names":["a"],"action":"SCMP_ACT_ALLOW"}]})")),
              HasSubstr("no defaultAction"));
  EXPECT_FALSE(apply_profile("{}", {}));
}

TEST(Profile, RefusesANumberThatNoJsonCanSayAgain) {
  EXPECT_THAT(refusal(R"({"linux":{},"weight":1e99999})"), HasSubstr("out of range"));
}

}  // namespace
}  // namespace sockhop::core
