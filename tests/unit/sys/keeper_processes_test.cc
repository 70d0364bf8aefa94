// spawn, peer, runtime_dir, host_endpoint: the other mechanisms of the keeper.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "core/sockaddr.h"
#include "sys/foreign_pid.h"
#include "sys/host_endpoint.h"
#include "sys/message_channel.h"
#include "sys/netns.h"
#include "sys/peer.h"
#include "sys/proc_files.h"
#include "sys/runtime_dir.h"
#include "sys/spawn.h"
#include "sys/unix_socket.h"

namespace sockhop::sys {
namespace {

using testing::HasSubstr;

std::string output_of(std::vector<std::string> arguments, std::size_t descriptors) {
  auto ends = packet_pair();
  EXPECT_TRUE(ends);
  const auto child =
      spawn({"/bin/sh", std::move(arguments), std::vector<FdRef>(descriptors, ends->second)});
  EXPECT_TRUE(child);
  int status = 0;
  EXPECT_EQ(::waitpid(*child, &status, 0), *child);
  EXPECT_EQ(status, 0) << describe_exit(status);
  const auto received = receive_with_descriptors(ends->first, 4096);
  return received ? received->bytes : to_string(received.error());
}

TEST(Spawn, TheChildSeesItsDescriptorsAndNoOthers) {
  const UniqueFd inherited(::fcntl(0, F_DUPFD, 40));  // not close-on-exec
  const std::string none = " && [ ! -e /proc/$$/fd/" + std::to_string(inherited.get()) + " ]";
  EXPECT_EQ(output_of({"-c", "[ -e /proc/$$/fd/5 ] && [ ! -e /proc/$$/fd/6 ]" + none +
                                 " && echo three >&4"},
                      3),
            "three\n");
  EXPECT_EQ(output_of({"-c", "[ ! -e /proc/$$/fd/4 ]" + none + " && echo one >&3"}, 1), "one\n");
}

TEST(Spawn, TheChildLeadsASessionOfItsOwn) {
  EXPECT_EQ(output_of({"-c",
                       "read -r _ _ _ _ _ sid _ < /proc/$$/stat; "
                       "[ $sid = $$ ] && echo own >&3"},
                      1),
            "own\n");
}

TEST(Spawn, MissingProgramsAreTold) {
  EXPECT_EQ(spawn({"/nonexistent", {}, {}}).error().code, ENOENT);
  EXPECT_THAT(find_program("no-such-program").error().detail, HasSubstr("install it"));
  EXPECT_EQ(describe_exit(9), "signal 9");
  EXPECT_EQ(describe_exit(2 << 8), "exit status 2");
}

TEST(Peer, TellsProcessAndNamespaces) {
  const auto ends = packet_pair();
  ASSERT_TRUE(ends);
  const auto peer = peer_of(ends->first);
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->pid, ::getpid());
  EXPECT_EQ(peer->uid, ::geteuid());
  EXPECT_TRUE(still_there(*peer));
  const auto own = namespaces_of(::getpid());
  ASSERT_TRUE(own);
  EXPECT_NE(own->network, 0u);
  EXPECT_NE(own->mount, 0u);
  EXPECT_FALSE(own->pids.empty());
  EXPECT_FALSE(namespaces_of(0x3fffffff));
}

TEST(Peer, AnEndedProcessIsNotThere) {
  auto ends = packet_pair();
  ASSERT_TRUE(ends);
  Peer peer{0, 0, {}};
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  peer.pid = child;
  peer.process = UniqueFd(static_cast<int>(::syscall(434, child, 0)));  // pidfd_open
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(still_there(peer));
}

TEST(Peer, TheNetworkNamespaceOfAnEndedOneIsKnown) {
  const std::string path = "/tmp/sockhop-unit-peer-" + std::to_string(::getpid());
  const auto listener = listen_unix(path, SocketKind::stream);
  ASSERT_TRUE(listener);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWNET) != 0) ::_exit(77);
    const auto inside = open_own_netns();
    const auto connection = connect_unix(path, SocketKind::stream);
    const auto inode = namespace_inode(*inside);
    ::_exit(connection && ::write(connection->get(), &*inode, sizeof(*inode)) > 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status == 77 << 8) GTEST_SKIP() << "needs to make a network namespace";
  const auto accepted = accept_unix(*listener);
  ASSERT_TRUE(accepted && *accepted);
  std::uint64_t expected = 0;
  ASSERT_EQ(::read(accepted->get(), &expected, sizeof(expected)), sizeof(expected));
  const auto netns = netns_of_peer(*accepted);
  ASSERT_TRUE(netns);
  EXPECT_EQ(*namespace_inode(*netns), expected);
  const auto peer = peer_of(*accepted);
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->uid, ::geteuid());
  EXPECT_FALSE(still_there(*peer));
  remove_socket(path);
}

TEST(ForeignPid, OursIsItself) {
  const auto own = namespaces_of(::getpid());
  ASSERT_TRUE(own);
  EXPECT_EQ(*find_foreign_pid(::getpid(), own->pids.front()), ::getpid());
  EXPECT_EQ(find_foreign_pid(1, 42).error().code, ESRCH) << "nobody is in such a namespace";
  EXPECT_EQ(find_foreign_pid(0, std::nullopt).error().code, ESRCH);
  EXPECT_EQ(nested_pids_of(::getpid())->front(), ::getpid());
}

class RuntimeDirTest : public testing::Test {
 protected:
  RuntimeDirTest() {
    char name[] = "/tmp/sockhop-unit-XXXXXX";
    base = ::mkdtemp(name);
    if (const char* old = std::getenv("XDG_RUNTIME_DIR")) before = old;
  }
  ~RuntimeDirTest() override {
    ::setenv("XDG_RUNTIME_DIR", before.c_str(), 1);
    std::filesystem::remove_all(base);
  }
  std::string base, before;
};

TEST_F(RuntimeDirTest, IsMadeForItsUserAlone) {
  ::setenv("XDG_RUNTIME_DIR", base.c_str(), 1);
  const auto dir = make_runtime_dir();
  ASSERT_TRUE(dir);
  EXPECT_EQ(dir->seccomp_socket(), base + "/sockhop/seccomp.sock");
  EXPECT_EQ(std::filesystem::status(dir->sessions()).permissions(),
            std::filesystem::perms::owner_all);
  EXPECT_TRUE(make_runtime_dir()) << "again";
}

TEST_F(RuntimeDirTest, MissingOnesNameTheRemedy) {
  ::unsetenv("XDG_RUNTIME_DIR");
  EXPECT_THAT(make_runtime_dir().error().detail, HasSubstr("export XDG_RUNTIME_DIR="));
  ::setenv("XDG_RUNTIME_DIR", (base + "/none").c_str(), 1);
  EXPECT_THAT(make_runtime_dir().error().detail, HasSubstr("install -d"));
}

TEST_F(RuntimeDirTest, OneDaemonServesIt) {
  ::setenv("XDG_RUNTIME_DIR", base.c_str(), 1);
  const auto dir = make_runtime_dir();
  ASSERT_TRUE(dir);
  auto first = lock_runtime_dir(*dir);
  ASSERT_TRUE(first);
  EXPECT_EQ(lock_runtime_dir(*dir).error().code, EBUSY);
  first->reset();
  EXPECT_TRUE(lock_runtime_dir(*dir));
}

core::PublishedPort port_on(const char* address, std::uint16_t port) {
  return {{*core::Address::parse(address), port}, 80, core::Protocol::tcp};
}

std::uint16_t bound_port(FdRef socket) {
  sockaddr_in6 name{};
  socklen_t length = sizeof(name);
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&name), &length);
  return ntohs(name.sin6_port);  // at the same offset for IPv4
}

TEST(HostEndpoint, KeepsItsPortAgainstEverybody) {
  for (const char* address : {"127.0.0.1", "::1"}) {
    const auto endpoint = bind_host_endpoint(port_on(address, 0));
    ASSERT_TRUE(endpoint) << to_string(endpoint.error());
    const auto port = port_on(address, bound_port(*endpoint));
    const auto second = bind_host_endpoint(port);
    ASSERT_FALSE(second) << address;
    EXPECT_EQ(second.error().code, EADDRINUSE);
    EXPECT_THAT(second.error().detail, HasSubstr(core::to_string(port.host) + " is in use"));
    for (const int option : {SO_REUSEADDR, SO_REUSEPORT}) {
      int value = -1;
      socklen_t length = sizeof(value);
      ::getsockopt(endpoint->get(), SOL_SOCKET, option, &value, &length);
      EXPECT_EQ(value, 0);
    }
  }
}

TEST(HostEndpoint, RefusesConnectionsUntilItListens) {
  const auto endpoint = bind_host_endpoint(port_on("127.0.0.1", 0));
  ASSERT_TRUE(endpoint);
  const UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto name =
      core::make_sockaddr({core::Address::v4(127, 0, 0, 1), bound_port(*endpoint)}, AF_INET);
  EXPECT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(name.data()),
                      static_cast<socklen_t>(name.size())),
            -1);
  EXPECT_EQ(errno, ECONNREFUSED);
}

TEST(HostEndpoint, IPv4AndIPv6OfOnePortAreTwo) {
  const auto four = bind_host_endpoint(port_on("0.0.0.0", 0));
  ASSERT_TRUE(four);
  EXPECT_TRUE(bind_host_endpoint(port_on("::", bound_port(*four))));
}

TEST(HostEndpoint, AForeignAddressIsTold) {
  const auto endpoint = bind_host_endpoint(port_on("203.0.113.77", 0));
  ASSERT_FALSE(endpoint);
  EXPECT_THAT(endpoint.error().detail, HasSubstr("no address of this host"));
}

}  // namespace
}  // namespace sockhop::sys
