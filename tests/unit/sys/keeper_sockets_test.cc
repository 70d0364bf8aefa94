// unix_socket, scm_rights, message_channel: what the keeper and its processes speak over.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "sys/message_channel.h"
#include "sys/unix_socket.h"

namespace sockhop::sys {
namespace {

using testing::HasSubstr;

class KeeperSockets : public testing::Test {
 protected:
  KeeperSockets() {
    char name[] = "/tmp/sockhop-unit-XXXXXX";
    folder = ::mkdtemp(name);
  }
  ~KeeperSockets() override { std::filesystem::remove_all(folder); }

  std::string folder;
};

bool same_file(FdRef a, FdRef b) {
  struct stat one {
  }, two{};
  return ::fstat(a.get(), &one) == 0 && ::fstat(b.get(), &two) == 0 && one.st_ino == two.st_ino &&
         one.st_dev == two.st_dev;
}

TEST_F(KeeperSockets, DescriptorsArriveCloseOnExec) {
  const auto ends = packet_pair();
  ASSERT_TRUE(ends);
  const UniqueFd file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  const std::vector<FdRef> sent(kMaxDescriptors, file);
  ASSERT_TRUE(send_with_descriptors(ends->first, "hello", sent));
  const auto received = receive_with_descriptors(ends->second, 100);
  ASSERT_TRUE(received);
  EXPECT_EQ(received->bytes, "hello");
  ASSERT_EQ(received->descriptors.size(), kMaxDescriptors);
  EXPECT_TRUE(same_file(received->descriptors.back(), file));
  EXPECT_EQ(::fcntl(received->descriptors[0].get(), F_GETFD), FD_CLOEXEC);
  EXPECT_FALSE(received->end);
}

TEST_F(KeeperSockets, NothingYetAndNoMoreAreTold) {
  auto ends = packet_pair();
  ASSERT_TRUE(ends);
  EXPECT_EQ(receive_with_descriptors(ends->first, 10).error().code, EAGAIN);
  ends->second.reset();
  EXPECT_TRUE(receive_with_descriptors(ends->first, 10)->end);
  EXPECT_EQ(send_with_descriptors(ends->first, "x", {}).error().code, EPIPE) << "and no SIGPIPE";
}

TEST_F(KeeperSockets, AMessageIsWholeOrAnError) {
  auto ends = packet_pair();
  ASSERT_TRUE(ends);
  const MessageChannel from(std::move(ends->first)), to(std::move(ends->second));
  const std::string longest(kMaxMessage, 'm');
  ASSERT_TRUE(from.send(longest));
  EXPECT_EQ(to.receive()->bytes, longest);
  EXPECT_EQ(from.send(longest + "m").error().code, EMSGSIZE);
  ASSERT_TRUE(send_with_descriptors(from.socket(), longest + "m", {}));
  EXPECT_EQ(to.receive().error().code, EMSGSIZE);
}

TEST_F(KeeperSockets, AReaderThatSleepsDoesNotBlockTheSender) {
  auto ends = packet_pair();
  ASSERT_TRUE(ends);
  const MessageChannel from(std::move(ends->first));
  Status sent;
  for (int i = 0; i < 10000 && sent; ++i) sent = from.send("message");
  EXPECT_EQ(sent.error().code, EAGAIN);
}

TEST_F(KeeperSockets, ListeningReplacesAStaleSocketOnly) {
  const std::string path = folder + "/door.sock";
  { ASSERT_TRUE(listen_unix(path, SocketKind::stream)); }
  EXPECT_EQ(connect_unix(path, SocketKind::stream).error().code, ECONNREFUSED);
  const auto listener = listen_unix(path, SocketKind::stream);
  ASSERT_TRUE(listener) << to_string(listener.error());
  struct stat found {};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  EXPECT_FALSE(accept_unix(*listener)->valid()) << "nobody waits";
  const auto client = connect_unix(path, SocketKind::stream);
  ASSERT_TRUE(client);
  EXPECT_TRUE(accept_unix(*listener)->valid());

  const std::string file = folder + "/file";
  UniqueFd(::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  EXPECT_EQ(listen_unix(file, SocketKind::stream).error().code, EEXIST);
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST_F(KeeperSockets, APathTooLongIsAMessage) {
  const auto listener = listen_unix(folder + "/" + std::string(108, 'x'), SocketKind::stream);
  ASSERT_FALSE(listener);
  EXPECT_THAT(listener.error().detail, HasSubstr("shorter XDG_RUNTIME_DIR"));
}

}  // namespace
}  // namespace sockhop::sys
