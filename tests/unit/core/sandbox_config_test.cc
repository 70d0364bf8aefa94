#include "core/sandbox_config.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sockhop::core {
namespace {

boost::json::value made(const SandboxOptions& options) {
  return boost::json::parse(sandbox_config(options));
}

TEST(SandboxConfig, WhatWasAskedFor) {
  SandboxOptions options;
  options.root = "/r";
  options.command = {"sh", "-c", "a \"b\""};
  options.environment = {"A=1"};
  options.folder = "/tmp";
  options.annotations = {{"sockhop/ports", "8080:80"}};
  options.resolv_conf = "/x";
  const auto config = made(options);
  EXPECT_EQ(config.at("root").at("path").as_string(), "/r");
  EXPECT_EQ(config.at("process").at("args").as_array()[2].as_string(), "a \"b\"");
  EXPECT_EQ(config.at("process").at("cwd").as_string(), "/tmp");
  EXPECT_TRUE(config.at("process").at("noNewPrivileges").as_bool());
  EXPECT_EQ(config.at("annotations").at("sockhop/ports").as_string(), "8080:80");
  EXPECT_EQ(config.at("mounts").as_array().back().at("source").as_string(), "/x");
  EXPECT_FALSE(config.at("linux").as_object().contains("seccomp")) << "sockhop-runtime's work";
}

TEST(SandboxConfig, UserAndNetworkAreShared) {
  // A range for keeps only the last temporary of its expression alive.
  const auto config = made({});
  for (const auto& each : config.at("linux").at("namespaces").as_array()) {
    EXPECT_NE(each.at("type").as_string(), "user");
    EXPECT_NE(each.at("type").as_string(), "network");
  }
  for (const auto& each : config.at("mounts").as_array()) {
    EXPECT_NE(each.at("destination").as_string(), "/etc/resolv.conf");
  }
}

TEST(SandboxConfig, SubordinateIds) {
  const std::string file = "# c\nbad\nother:5:6\n1000:7\nweb:100000:65536\nweb:1:2\n1001:9:8\n";
  EXPECT_EQ(sub_ids_of(file, "web", "1000").first, 100000u);
  EXPECT_EQ(sub_ids_of(file, "web", "1000").count, 65536u);
  EXPECT_EQ(sub_ids_of(file, "none", "1001").count, 8u);
  EXPECT_EQ(sub_ids_of(file, "none", "1002").count, 0u);
  EXPECT_EQ(sub_ids_of("", "web", "1000").count, 0u);
}

}  // namespace
}  // namespace sockhop::core
