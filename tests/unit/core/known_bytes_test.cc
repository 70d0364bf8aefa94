#include "core/known_bytes.h"

#include <gtest/gtest.h>

namespace sockhop::core {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(KnownBytes, FreshOnesMayBeAnything) {
  const KnownBytes fresh;
  EXPECT_EQ(fresh.equals(0, Bytes{0, 0}), Match::maybe);
  EXPECT_EQ(fresh.less(0, Bytes{5}), Match::maybe);
  EXPECT_EQ(fresh.less(0, Bytes{0}), Match::no);
  EXPECT_EQ(fresh.greater(0, Bytes{255}), Match::no);
  EXPECT_EQ(fresh.in(0, {{1}, {3}}), Match::maybe);
}

TEST(KnownBytes, WhatIsSetIsKnown) {
  KnownBytes bytes;
  bytes.set(2, Bytes{7, 9});
  EXPECT_EQ(bytes.equals(2, Bytes{7, 9}), Match::yes);
  EXPECT_EQ(bytes.equals(2, Bytes{7, 8}), Match::no);
  EXPECT_EQ(bytes.equals(1, Bytes{7, 7}), Match::maybe);
  EXPECT_EQ(bytes.equals(1, Bytes{7, 8}), Match::no);
  EXPECT_EQ(bytes.less(2, Bytes{8, 0}), Match::yes);
  EXPECT_EQ(bytes.less(2, Bytes{7, 9}), Match::no);
  EXPECT_EQ(bytes.greater(2, Bytes{7, 8}), Match::yes);
  EXPECT_EQ(bytes.greater(2, Bytes{7, 9}), Match::no);
  EXPECT_EQ(bytes.in(2, {{7}, {7}}), Match::yes);
  EXPECT_EQ(bytes.in(2, {{6}, {8}}), Match::yes);
  EXPECT_EQ(bytes.in(2, {{8}, {9}}), Match::no);
  bytes.forget(3, 100);
  EXPECT_EQ(bytes.equals(2, Bytes{7, 9}), Match::maybe);
}

TEST(KnownBytes, BitsThatAMaskClearsAreKnown) {
  KnownBytes bytes;
  bytes.set_bits(0, Bytes{0x02}, Bytes{0x17});
  bytes.combine(4, 0, Bytes{0x06}, Bytes{0});
  EXPECT_EQ(bytes.equals(4, Bytes{0x02}), Match::yes);
  bytes.combine(4, 0, Bytes{0x80}, Bytes{0});
  EXPECT_EQ(bytes.equals(4, Bytes{0x80}), Match::maybe);
  EXPECT_EQ(bytes.equals(4, Bytes{0x01}), Match::no);
  bytes.combine(8, 60, Bytes{0}, Bytes{0x55});
  EXPECT_EQ(bytes.equals(8, Bytes{0x55}), Match::yes);
}

TEST(KnownBytes, OneKnownBitBoundsAValue) {
  KnownBytes port;
  port.set_bits(0, Bytes{0x80}, Bytes{0x80});
  EXPECT_EQ(port.less(0, Bytes{0x80, 0}), Match::no);
  EXPECT_EQ(port.greater(0, Bytes{0x7f, 0xff}), Match::yes);
  EXPECT_EQ(port.in(0, {{0, 1}, {4, 0}}), Match::no);
  EXPECT_EQ(port.in(0, {{4, 0}, {0xff, 0xff}}), Match::yes);
  EXPECT_EQ(port.in(0, {{4, 0}, {0xff, 0}}), Match::maybe);
}

TEST(KnownBytes, BeyondTheEndNothingIsKnownAndNothingHappens) {
  KnownBytes bytes;
  bytes.set(63, Bytes{1, 2});
  bytes.set(1000, Bytes{1});
  bytes.forget(1000, 5);
  bytes.combine(63, 0, Bytes{0, 0}, Bytes{0, 0});
  EXPECT_EQ(bytes.equals(63, Bytes{1}), Match::maybe);
  EXPECT_EQ(bytes.equals(64, Bytes{1}), Match::maybe);
  KnownBytes other;
  other.set(0, Bytes{5});
  bytes.copy(0, other, 0, 2);
  EXPECT_EQ(bytes.equals(0, Bytes{5}), Match::yes);
  bytes.copy(1, other, 63, 2);
  EXPECT_EQ(bytes.equals(1, Bytes{0}), Match::maybe);
}

}  // namespace
}  // namespace sockhop::core
