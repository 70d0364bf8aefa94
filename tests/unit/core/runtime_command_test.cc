#include "core/runtime_command.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sockhop::core {
namespace {

using Kind = RuntimeCommand::Kind;

RuntimeCommand parse(const std::string& line) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while (at < line.size()) {
    const auto end = std::min(line.find(' ', at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return parse_runtime_command(words);
}

TEST(RuntimeCommand, AsPodmanCallsIt) {
  const auto command = parse("create --bundle /b/userdata --pid-file /r/pidfile 245f44");
  EXPECT_EQ(command.kind, Kind::creates);
  EXPECT_EQ(command.bundle, "/b/userdata");
  EXPECT_EQ(command.container, "245f44");
  EXPECT_EQ(command.config_file, "config.json");
  EXPECT_TRUE(command.log.empty());
  EXPECT_EQ(parse("delete --force 245f44").kind, Kind::deletes);
  EXPECT_EQ(parse("delete --force 245f44").container, "245f44");
}

TEST(RuntimeCommand, AsContainerdCallsIt) {
  const auto command = parse(
      "--root /run/runc/moby --log /b/log.json --log-format json --systemd-cgroup create "
      "--bundle /b --pid-file /b/init.pid --console-socket /tmp/pty.sock --no-pivot web");
  EXPECT_EQ(command.kind, Kind::creates);
  EXPECT_EQ(command.bundle, "/b");
  EXPECT_EQ(command.container, "web");
  EXPECT_EQ(command.log, "/b/log.json");
  EXPECT_TRUE(command.log_is_json);
}

TEST(RuntimeCommand, EverySpellingOfAnOption) {
  EXPECT_EQ(parse("run -b /b -d web").bundle, "/b");
  EXPECT_EQ(parse("run -b /b -d web").container, "web");
  EXPECT_EQ(parse("run -bundle /b web").bundle, "/b");
  EXPECT_EQ(parse("run --bundle=/b web").bundle, "/b");
  EXPECT_EQ(parse("--cgroup-manager=disabled create -f other.json web").config_file, "other.json");
  EXPECT_EQ(parse("--cgroup-manager disabled create web").kind, Kind::creates);
  EXPECT_EQ(parse("create -- -web").container, "-web");
  EXPECT_EQ(parse("create web").bundle, ".");
  EXPECT_FALSE(parse("--log-format=text create web").log_is_json);
}

TEST(RuntimeCommand, WhatIsNoneOfOurBusiness) {
  for (const char* line :
       {"", "--version", "start web", "exec web create", "--root /create state web", "features",
        "--log", "kill web", "--root", "update --pids-limit 5 web"}) {
    EXPECT_EQ(parse(line).kind, Kind::other) << line;
  }
  EXPECT_EQ(parse("create").container, "");
  EXPECT_EQ(parse("create --bundle").container, "");
}

TEST(RuntimeCommand, LogLinesAreRead) {
  const auto line = runtime_log_line(true, "error", "a \"b\"\n\x01", "2026-01-02T03:04:05Z");
  const auto parsed = boost::json::parse(line);
  EXPECT_EQ(parsed.at("level").as_string(), "error");
  EXPECT_EQ(parsed.at("msg").as_string(), "a \"b\"\n\x01");
  EXPECT_EQ(line.back(), '\n');
  EXPECT_EQ(runtime_log_line(false, "warning", "x y", "T"),
            "time=\"T\" level=warning msg=\"x y\"\n");
}

}  // namespace
}  // namespace sockhop::core
