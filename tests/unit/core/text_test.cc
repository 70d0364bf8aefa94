#include "core/text.h"

#include <gtest/gtest.h>

namespace sockhop::core {
namespace {

TEST(ParseNumber, ReadsDigitsUpToTheLimit) {
  EXPECT_EQ(parse_number("0", 65535), 0u);
  EXPECT_EQ(parse_number("65535", 65535), 65535u);
  EXPECT_EQ(parse_number("4294967295", 0xffffffff), 0xffffffffu);
}

TEST(ParseNumber, RefusesEverythingElse) {
  for (const char* text : {"", " 1", "1 ", "+1", "-1", "0x10", "1a", "65536", "4294967296",
                           "99999999999999999999999"}) {
    EXPECT_EQ(parse_number(text, 65535), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace sockhop::core
