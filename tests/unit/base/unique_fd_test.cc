#include "base/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <type_traits>
#include <utility>

namespace sockhop {
namespace {

UniqueFd open_null() { return UniqueFd(::open("/dev/null", O_RDWR | O_CLOEXEC)); }

bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }

static_assert(!std::is_copy_constructible_v<UniqueFd>);
static_assert(!std::is_copy_assignable_v<UniqueFd>);
static_assert(!std::is_convertible_v<int, UniqueFd>, "a number must not become owned by accident");
static_assert(!std::is_convertible_v<int, FdRef>);

TEST(UniqueFd, IsEmptyAtFirst) {
  const UniqueFd empty;
  EXPECT_FALSE(empty.valid());
  EXPECT_FALSE(empty);
  EXPECT_EQ(empty.get(), -1);
}

TEST(UniqueFd, TreatsTheResultOfAFailedCallAsEmpty) { EXPECT_FALSE(UniqueFd(-1).valid()); }

TEST(UniqueFd, OwnsNumberZero) {
  // Descriptor 0 is valid; take it only for the test of the predicate.
  UniqueFd zero(0);
  EXPECT_TRUE(zero.valid());
  EXPECT_EQ(zero.release(), 0);
}

TEST(UniqueFd, ClosesAtTheEndOfItsScope) {
  int number = -1;
  {
    const UniqueFd fd = open_null();
    number = fd.get();
    ASSERT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(UniqueFd, MoveLeavesTheSourceEmpty) {
  UniqueFd first = open_null();
  const int number = first.get();
  const UniqueFd second = std::move(first);
  EXPECT_EQ(second.get(), number);
  EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(is_open(number));
}

TEST(UniqueFd, MoveAssignmentClosesWhatItHeld) {
  UniqueFd target = open_null();
  UniqueFd source = open_null();
  const int old_number = target.get();
  const int new_number = source.get();
  target = std::move(source);
  EXPECT_FALSE(is_open(old_number));
  EXPECT_EQ(target.get(), new_number);
  EXPECT_TRUE(is_open(new_number));
}

TEST(UniqueFd, SelfMoveKeepsTheDescriptor) {
  UniqueFd fd = open_null();
  const int number = fd.get();
  UniqueFd& same = fd;
  fd = std::move(same);
  EXPECT_EQ(fd.get(), number);
  EXPECT_TRUE(is_open(number));
}

TEST(UniqueFd, ReleaseGivesTheNumberAwayOpen) {
  UniqueFd fd = open_null();
  const int number = fd.release();
  EXPECT_FALSE(fd.valid());
  EXPECT_TRUE(is_open(number));
  ::close(number);
}

TEST(UniqueFd, ResetClosesOnce) {
  UniqueFd fd = open_null();
  const int number = fd.get();
  fd.reset();
  EXPECT_FALSE(is_open(number));
  fd.reset();
  EXPECT_FALSE(fd.valid());
}

TEST(UniqueFd, SwapExchangesOwners) {
  UniqueFd left = open_null();
  UniqueFd right;
  const int number = left.get();
  left.swap(right);
  EXPECT_FALSE(left.valid());
  EXPECT_EQ(right.get(), number);
}

TEST(FdRef, NamesAnOwnersDescriptorAndDoesNotCloseIt) {
  const UniqueFd owner = open_null();
  {
    const FdRef ref = owner;
    EXPECT_EQ(ref.get(), owner.get());
  }
  EXPECT_TRUE(is_open(owner.get()));
}

TEST(FdRef, CanNameADescriptorOfAnotherProcess) { EXPECT_EQ(FdRef::from_number(4711).get(), 4711); }

}  // namespace
}  // namespace sockhop
