// The same for policy strict, where a connection is made before its socket is handed over.
#include "tests/kernel/crash_stages.h"

namespace sockhop::tests {
namespace {

int play_waiting(const Step& step) {
  const int fd = tcp_socket();
  const int twin = ::dup(fd);
  step.begin();
  int result = connect_to(fd, kPort);
  if (result == 0 && is_of_own_namespace(fd)) result = 210;
  if (result == 0 && option_of(fd, SO_COOKIE) != option_of(twin, SO_COOKIE)) result = 211;
  if (result == 0) result = talk(twin, step.number);
  ::close(fd);
  ::close(twin);
  return result;
}

int play_refused(const Step& step) {
  const int fd = tcp_socket();
  const std::uint64_t before = option_of(fd, SO_COOKIE);
  step.begin();
  int result = connect_to(fd, kRefused);
  result = result == ECONNREFUSED ? 0 : result == 0 ? 250 : result;
  if (result == 0 && option_of(fd, SO_COOKIE) != before) result = 251;
  ::close(fd);
  return result;
}

TEST(CrashStrict, ABlockingConnect) { expect_taken_apart(play_waiting, {.strict = true}); }
TEST(CrashStrict, ARefusedConnect) {
  expect_taken_apart(play_refused, {.connections = 0, .strict = true});
}

}  // namespace
}  // namespace sockhop::tests
