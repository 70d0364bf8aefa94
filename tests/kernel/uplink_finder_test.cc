#include "sys/uplink_finder.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "sys/proc_files.h"

namespace sockhop {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

// An unprivileged user nobody else runs anything as.
const uid_t kUser = 2000000000 + static_cast<uid_t>(::getpid());

void become_user() {
  if (::setgroups(0, nullptr) != 0 || ::setgid(kUser) != 0 || ::setuid(kUser) != 0) {
    ::_exit(99);
  }
}

class Child {
 public:
  explicit Child(const std::vector<std::string>& arguments) : pid_(::fork()) {
    if (pid_ != 0) return;
    become_user();
    std::vector<char*> raw;
    for (const auto& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
    raw.push_back(nullptr);
    ::execvp(raw[0], raw.data());
    ::_exit(98);
  }
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

bool wait_for(const std::function<bool()>& condition) {
  const auto deadline = steady_clock::now() + seconds(10);
  while (!condition()) {
    if (steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

std::uint64_t netns_of(const std::string& process) {
  struct stat facts {};
  return ::stat(("/proc/" + process + "/ns/net").c_str(), &facts) == 0 ? facts.st_ino : 0;
}

std::string describe(const std::vector<core::Uplink>& uplinks) {
  std::string text;
  for (const auto& uplink : uplinks) {
    text += uplink.device + (uplink.outbound_fixed ? " fixed" : "") +
            (uplink.kind == core::UplinkKind::pasta ? " pasta;" : " slirp;");
  }
  return text;
}

// Searches as the user, in a process of the user's, as the keeper does.
std::string found_as_user(std::uint64_t inode) {
  int ends[2];
  if (::pipe(ends) != 0) return "pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    become_user();
    const auto found = sys::UplinkFinder().find(inode);
    const std::string text = found ? describe(*found) : to_string(found.error());
    ::_exit(::write(ends[1], text.data(), text.size()) < 0 ? 1 : 0);
  }
  ::close(ends[1]);
  char text[512];
  const ssize_t length = ::read(ends[0], text, sizeof text);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return std::string(text, length > 0 ? static_cast<std::size_t>(length) : 0);
}

class UplinkFinderTest : public ::testing::Test {
 protected:
  UplinkFinderTest() : sandbox_({"unshare", "-Urn", "sleep", "60"}) {
    EXPECT_TRUE(wait_for([&] {
      const auto name = sys::command_name_of(sandbox_.pid());
      return name && *name == "sleep";
    }));
  }
  std::string target() const { return std::to_string(sandbox_.pid()); }
  std::string path(const char* kind) const { return "/proc/" + target() + "/ns/" + kind; }
  std::uint64_t inode() const { return netns_of(target()); }
  bool appears(const std::string& text) const {
    return wait_for([&] { return found_as_user(inode()) == text; });
  }
  Child sandbox_;
};

#define NEEDS(program)                                         \
  if (std::system("command -v " program " >/dev/null") != 0) { \
    GTEST_SKIP() << program " is not installed";               \
  }

TEST_F(UplinkFinderTest, NobodyServesAFreshNamespace) { EXPECT_EQ(found_as_user(inode()), ""); }

TEST_F(UplinkFinderTest, SlirpByPid) {
  NEEDS("slirp4netns")
  const Child slirp({"slirp4netns", "--configure", "--mtu=65520", target(), "tap7"});
  EXPECT_TRUE(appears("tap7 slirp;")) << found_as_user(inode());
  EXPECT_EQ(found_as_user(netns_of("self")), "");
}

TEST_F(UplinkFinderTest, SlirpByPathWithOutboundAddress) {
  NEEDS("slirp4netns")
  const Child slirp({"slirp4netns", "-c", "--outbound-addr=127.0.0.1", "--enable-seccomp",
                     "--netns-type=path", "--userns-path=" + path("user"), path("net"), "tap0"});
  EXPECT_TRUE(appears("tap0 fixed slirp;")) << found_as_user(inode());
}

TEST_F(UplinkFinderTest, PastaByPid) {
  NEEDS("pasta")
  const Child pasta({"pasta", "--config-net", "-q", "-f", "-I", "ext0", target()});
  EXPECT_TRUE(appears("ext0 pasta;")) << found_as_user(inode());
}

TEST_F(UplinkFinderTest, PastaByPathWithOutboundAddress) {
  NEEDS("pasta")
  const Child pasta({"pasta", "--config-net", "-q", "-f", "--ns-ifname=ext0", "-o", "127.0.0.1",
                     "--netns", path("net"), "--userns", path("user")});
  EXPECT_TRUE(appears("ext0 fixed pasta;")) << found_as_user(inode());
}

// A container may call a process of its own anything, but it does not stand where the keeper does.
TEST_F(UplinkFinderTest, ImpostorInsideIsNotBelieved) {
  const std::string folder = "/tmp/sockhop-impostor-" + std::to_string(::getpid());
  ASSERT_EQ(::mkdir(folder.c_str(), 0755), 0);
  const std::string program = folder + "/pasta";
  ASSERT_EQ(::symlink("/bin/sleep", program.c_str()), 0);
  {
    // `sleep NUMBER` under the name of `pasta PID`.
    const Child impostor({"unshare", "-Urn", program, target()});
    EXPECT_TRUE(wait_for([&] {
      const auto name = sys::command_name_of(impostor.pid());
      return name && *name == "pasta";
    }));
    EXPECT_EQ(found_as_user(inode()), "");
  }
  ::unlink(program.c_str());
  ::rmdir(folder.c_str());
}

}  // namespace
}  // namespace sockhop
