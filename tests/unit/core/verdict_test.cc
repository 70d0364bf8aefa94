#include "core/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace sockhop::core {
namespace {

constexpr int kReasons = static_cast<int>(Reason::daemon_error) + 1;

TEST(Reason, HasATextAndANameOfItsOwn) {
  std::set<std::string_view> names, texts;
  for (int i = 0; i < kReasons; ++i) {
    names.insert(name_of(static_cast<Reason>(i)));
    texts.insert(describe(static_cast<Reason>(i)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kReasons));
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(kReasons));
  EXPECT_FALSE(names.contains("unknown")) << "only a value outside the enumeration is unknown";
}

TEST(Reason, NamesAreFitForJsonAndMetrics) {
  for (int i = 0; i < kReasons; ++i) {
    const std::string_view name = name_of(static_cast<Reason>(i));
    EXPECT_TRUE(std::ranges::all_of(name, [](char c) { return c == '_' || std::islower(c); }))
        << name;
  }
}

TEST(Reason, OutsideTheEnumerationIsHarmless) {
  EXPECT_EQ(name_of(static_cast<Reason>(kReasons)), "unknown");
  EXPECT_EQ(describe(static_cast<Reason>(kReasons)), "unknown");
}

TEST(Reason, StableNames) {
  EXPECT_EQ(name_of(Reason::loopback), "loopback");
  EXPECT_EQ(describe(Reason::loopback), "the destination is loopback");
}

}  // namespace
}  // namespace sockhop::core
