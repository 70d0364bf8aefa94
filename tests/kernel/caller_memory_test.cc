// Memory of a child that it may write, may not write, and has not.
#include "sys/caller_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>

namespace sockhop::sys {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::string_view kText = "written";

class CallerMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    pages_ = static_cast<char*>(
        ::mmap(nullptr, 6 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(pages_, MAP_FAILED);
    // Touched, so that a private copy is what a forced write would change.
    std::memset(pages_, '.', 6 * kPage);
    ASSERT_EQ(::mprotect(page(1), kPage, PROT_READ), 0);
    ASSERT_EQ(::mprotect(page(3), kPage, PROT_NONE), 0);
    ASSERT_EQ(::munmap(page(5), kPage), 0);
    child_ = ::fork();
    if (child_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) ::pause();
    }
  }
  void TearDown() override {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::munmap(pages_, 5 * kPage);
  }

  [[nodiscard]] char* page(std::size_t number) const { return pages_ + number * kPage; }
  /// 0 or the errno.
  [[nodiscard]] int write_to(const char* place) const {
    const auto memory = CallerMemory::open(child_);
    const auto done =
        memory->write(reinterpret_cast<std::uint64_t>(place), std::as_bytes(std::span(kText)));
    return done ? 0 : done.error().code;
  }
  [[nodiscard]] std::string there(const char* place, std::size_t size) const {
    std::string text(size, '?');
    const UniqueFd memory(::open(("/proc/" + std::to_string(child_) + "/mem").c_str(), O_RDONLY));
    EXPECT_EQ(::pread(memory.get(), text.data(), size, reinterpret_cast<off_t>(place)),
              static_cast<ssize_t>(size));
    return text;
  }

  char* pages_ = nullptr;
  pid_t child_ = -1;
};

TEST_F(CallerMemoryTest, WritesWhereTheProcessMay) {
  EXPECT_EQ(write_to(page(0) + 5), 0);
  EXPECT_EQ(there(page(0) + 4, 9), ".written.");
}

TEST_F(CallerMemoryTest, LeavesReadOnlyPagesAlone) {
  EXPECT_EQ(write_to(page(1)), EFAULT);
  EXPECT_EQ(there(page(1), 7), ".......");
}

TEST_F(CallerMemoryTest, LeavesPagesWithoutAccessAlone) {
  EXPECT_EQ(write_to(page(3) + 9), EFAULT);
  EXPECT_EQ(there(page(3) + 9, 7), ".......");
}

TEST_F(CallerMemoryTest, WritesUpToTheFirstByteThatMayNot) {
  EXPECT_EQ(write_to(page(1) - 3), EFAULT);
  EXPECT_EQ(there(page(1) - 4, 8), ".wri....");
  EXPECT_EQ(write_to(page(3) - 3), EFAULT);
  EXPECT_EQ(there(page(3) - 4, 8), ".wri....");
  EXPECT_EQ(write_to(page(5) - 3), EFAULT);
  EXPECT_EQ(there(page(5) - 4, 4), ".wri");
}

TEST_F(CallerMemoryTest, KnowsWhatIsNotThere) {
  EXPECT_NE(write_to(nullptr), 0);
  EXPECT_NE(write_to(reinterpret_cast<const char*>(~std::uint64_t{0} - 3)), 0);
}

TEST_F(CallerMemoryTest, BothWaysOfAskingAgree) {
  const UniqueFd maps(::open(("/proc/" + std::to_string(child_) + "/maps").c_str(), O_RDONLY));
  const bool answers = ask_area(maps, 0).has_value() || ask_area(maps, 0).error().code != ENOTTY;
  if (!answers) GTEST_SKIP() << "this kernel has no PROCMAP_QUERY (6.11)";
  for (std::size_t i = 0; i < 6; ++i) {
    for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, kPage - 1}) {
      const auto address = reinterpret_cast<std::uint64_t>(page(i) + offset);
      const auto asked = ask_area(maps, address).value();
      const auto found = find_area(maps, address).value();
      ASSERT_EQ(asked.has_value(), found.has_value());
      EXPECT_EQ(asked->begin, found->begin);
      EXPECT_EQ(asked->end, found->end);
      EXPECT_EQ(asked->writable, found->writable) << i;
    }
  }
  EXPECT_FALSE(ask_area(maps, ~std::uint64_t{0}).value().has_value());
  EXPECT_FALSE(find_area(maps, ~std::uint64_t{0}).value().has_value());
}

}  // namespace
}  // namespace sockhop::sys
