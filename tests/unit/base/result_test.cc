// Result: a test per way the tree uses it.
#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace sockhop {
namespace {

Result<int> half_of(int number) {
  if (number % 2 != 0) return input_error("half", "odd");
  return number / 2;
}

Status check_even(int number) {
  if (auto half = half_of(number); !half) return half.error();
  return {};
}

TEST(Result, HoldsTheValueOfASuccess) {
  const auto half = half_of(8);
  ASSERT_TRUE(half);
  EXPECT_EQ(*half, 4);
  EXPECT_EQ(half.value(), 4);
}

TEST(Result, HoldsTheErrorOfAFailure) {
  const auto half = half_of(7);
  ASSERT_FALSE(half);
  EXPECT_EQ(half.error().code, EINVAL);
  EXPECT_STREQ(half.error().call, "half");
  EXPECT_EQ(half.error().detail, "odd");
}

TEST(Result, OfAnIntegerTakesAnIntegerForItsValue) {
  const Result<int> errno_like = EINVAL;
  ASSERT_TRUE(errno_like);
  EXPECT_EQ(*errno_like, EINVAL);
}

TEST(Result, PassesAnErrorOnToAnotherValueType) {
  const Status status = check_even(3);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().detail, "odd");
  EXPECT_TRUE(check_even(4));
}

TEST(Result, MovesAValueThatCannotBeCopied) {
  Result<std::unique_ptr<int>> made = std::make_unique<int>(5);
  const std::unique_ptr<int> taken = std::move(*made);
  EXPECT_EQ(*taken, 5);
}

TEST(Result, LetsMembersOfTheValueBeReached) {
  Result<std::string> text = std::string("four");
  EXPECT_EQ(text->size(), 4u);
}

TEST(ResultDeathTest, TakingTheValueOfAnErrorIsABugAndAborts) {
  EXPECT_DEATH(static_cast<void>(half_of(1).value()), "");
}

TEST(Error, OfASystemCallKeepsItsErrno) {
  errno = ENOENT;
  EXPECT_EQ(to_string(errno_error("open")), "open: No such file or directory");
}

TEST(Error, OfASystemCallReadsErrnoBeforeTheDetailIsMoved) {
  errno = EACCES;
  const Error error = errno_error("open", "/etc/thing");
  errno = 0;
  EXPECT_EQ(error.code, EACCES);
  EXPECT_EQ(to_string(error), "open: /etc/thing: Permission denied");
}

TEST(Error, OfRefusedInputSaysOnlyTheDetail) {
  EXPECT_EQ(to_string(input_error("rule", "no CIDR")), "rule: no CIDR");
}

TEST(Error, WithoutDetailSaysTheErrnoEvenWhereItIsEinval) {
  EXPECT_EQ(to_string(Error{EINVAL, "bind", {}}), "bind: Invalid argument");
}

TEST(Error, WithoutACallBeginsWithTheDetail) {
  EXPECT_EQ(to_string(Error{EPERM, "", "not yours"}), "not yours: Operation not permitted");
}

}  // namespace
}  // namespace sockhop
