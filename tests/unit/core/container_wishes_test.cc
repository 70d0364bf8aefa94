#include "core/container_wishes.h"

#include <gmock/gmock.h>

namespace sockhop::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<ContainerWishes> read(const std::string& key, const std::string& value) {
  return read_wishes(R"({"annotations":{"a":"b",")" + key + "\":\"" + value + "\"}}");
}

std::string refusal(const std::string& key, const std::string& value) {
  const auto wishes = read(key, value);
  return wishes ? "accepted" : to_string(wishes.error());
}

TEST(ContainerWishes, WithoutAnnotations) {
  for (const char* config : {"{}", R"({"annotations":null})", R"({"annotations":{"x/ports":"1"}})",
                             R"({"annotations":[]})"}) {
    const auto wishes = read_wishes(config);
    ASSERT_TRUE(wishes) << config;
    EXPECT_TRUE(wishes->accelerate);
    EXPECT_FALSE(wishes->required);
    EXPECT_THAT(wishes->ports, IsEmpty());
  }
}

TEST(ContainerWishes, EveryAnnotation) {
  EXPECT_FALSE(read("sockhop/accelerate", "false")->accelerate);
  EXPECT_TRUE(read("sockhop/accelerate", "1")->accelerate);
  EXPECT_EQ(read("sockhop/required", "true")->required, true);
  EXPECT_THAT(read("sockhop/ports", "8080:80, 127.0.0.1:8443:443/tcp,")->ports,
              ElementsAre("8080:80", "127.0.0.1:8443:443/tcp"));
  EXPECT_THAT(read("sockhop/rules", "stay 10.0.0.0/8,deny 203.0.113.0/24:25")->rules,
              ElementsAre("stay 10.0.0.0/8", "deny 203.0.113.0/24:25"));
  EXPECT_THAT(read("sockhop/ports", "")->ports, IsEmpty());
}

TEST(ContainerWishes, RefusalsSayWhatToWrite) {
  EXPECT_THAT(refusal("sockhop/ports", "80"), HasSubstr("[IP:]HOST:CONTAINER"));
  EXPECT_THAT(refusal("sockhop/ports", "8080:80 9090:90"), HasSubstr("[IP:]HOST:CONTAINER"));
  EXPECT_THAT(refusal("sockhop/rules", "stay"), HasSubstr("stay|hop|deny"));
  EXPECT_THAT(refusal("sockhop/accelerate", "yes"), HasSubstr("write true or false"));
  EXPECT_THAT(refusal("sockhop/port", "80:80"), HasSubstr("sockhop/ports"));
  EXPECT_THAT(refusal("sockhop/port", std::string(100000, 'x')).size(), testing::Lt(1000u));
  EXPECT_FALSE(read_wishes(R"({"annotations":{"sockhop/ports":80}})"));
  EXPECT_FALSE(read_wishes("[]"));
  EXPECT_FALSE(read_wishes(""));
}

TEST(ContainerWishes, LabelsOfDocker) {
  const std::string config = R"({"mounts":[1,{"destination":"/etc/resolv.conf",
    "source":"/d/containers/web/resolv.conf"}],"annotations":{"sockhop/required":"false"}})";
  EXPECT_EQ(docker_state_file(config, "web"), "/d/containers/web/config.v2.json");
  EXPECT_EQ(docker_state_file(config, "other"), "");
  EXPECT_EQ(docker_state_file("{}", "web"), "");
  EXPECT_EQ(docker_state_file("x", "web"), "");
  const auto labels = [](const std::string& text) {
    return R"({"Config":{"Labels":{)" + text + "}}}";
  };
  const auto both =
      read_wishes(config, labels(R"("sockhop/ports":"8080:80","sockhop/required":"true")"));
  ASSERT_TRUE(both);
  EXPECT_THAT(both->ports, ElementsAre("8080:80"));
  EXPECT_EQ(both->required, false) << "the annotation counts more";
  EXPECT_TRUE(read_wishes(config, R"({"Config":{"Labels":null}})"));
  EXPECT_TRUE(read_wishes(config, "{}"));
  EXPECT_FALSE(read_wishes(config, labels(R"("sockhop/ports":"80")")));
  EXPECT_FALSE(read_wishes(config, "half a fi"));
}

}  // namespace
}  // namespace sockhop::core
