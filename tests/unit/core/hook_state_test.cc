#include "core/hook_state.h"

#include <gtest/gtest.h>

namespace sockhop::core {
namespace {

TEST(HookState, OfRuncAndCrun) {
  const auto runc = parse_hook_state(
      R"({"ociVersion":"1.0.2-dev","id":"web","status":"creating","pid":7,"bundle":"/b",
          "annotations":{"a":"b"}})");
  ASSERT_TRUE(runc);
  EXPECT_EQ(runc->id, "web");
  EXPECT_EQ(runc->bundle, "/b");
  const auto crun = parse_hook_state(R"({"ociVersion":"1.0","id":"web","pid":0,"root":"/r"})");
  ASSERT_TRUE(crun);
  EXPECT_EQ(crun->bundle, "");
}

TEST(HookState, WhatIsNone) {
  for (const char* bad :
       {"", "{", "[]", "{}", R"({"id":1})", R"({"id":""})", R"({"id":"a/b"})", R"({"id":"a b"})"}) {
    EXPECT_FALSE(parse_hook_state(bad)) << bad;
  }
}

TEST(HookState, Listener) {
  EXPECT_EQ(listener_of(R"({"linux":{"seccomp":{"listenerPath":"/s"}}})").value(), "/s");
  for (const char* none : {"{}", R"({"linux":null})", R"({"linux":{"seccomp":{}}})",
                           R"({"linux":{"seccomp":{"listenerPath":1}}})", R"({"linux":[]})"}) {
    EXPECT_EQ(listener_of(none).value(), "") << none;
  }
  EXPECT_FALSE(listener_of("["));
}

}  // namespace
}  // namespace sockhop::core
