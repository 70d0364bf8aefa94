// accept() on a published listener with no place for the name: the connection is lost as the kernel
// loses it, and the next one comes.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "tests/support/inject_lab.h"

namespace sockhop::tests {
namespace {

/// Accepts into memory that may be read only, then into some that may be written.
int serve(InjectLab::Board& board) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(80);
  if (::bind(listener, reinterpret_cast<sockaddr*>(&name), sizeof name) < 0) return 1;
  if (::listen(listener, 8) < 0) return 2;
  void* page = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  board.ready = 1;
  socklen_t size = sizeof name;
  if (::accept(listener, static_cast<sockaddr*>(page), &size) >= 0 || errno != EFAULT) return 3;
  if (size != sizeof name || *static_cast<const char*>(page) != 0) return 4;
  if (::accept(listener, reinterpret_cast<sockaddr*>(&name), static_cast<socklen_t*>(page)) >= 0 ||
      errno != EFAULT) {
    return 5;
  }
  const int fd = ::accept(listener, reinterpret_cast<sockaddr*>(&name), &size);
  if (fd < 0 || ::send(fd, "served", 6, MSG_NOSIGNAL) != 6) return 6;
  char byte = 0;
  while (::recv(fd, &byte, 1, 0) > 0) continue;
  return 0;
}

TEST(InjectMemory, AcceptFailsWhereTheNameHasNoPlace) {
  InjectLab lab({"17180:80"}, serve);
  ASSERT_TRUE(lab.wait_ready());
  lab.machine().run([&] {
    for (int i = 0; i < 2; ++i) {
      const std::string answer = ask(kHostAddress, 17180);
      EXPECT_TRUE(answer.empty() || answer == "!ECONNRESET") << answer;
    }
    EXPECT_EQ(ask(kHostAddress, 17180), "served");
  });
  EXPECT_EQ(lab.finish(), 0);
}

}  // namespace
}  // namespace sockhop::tests
