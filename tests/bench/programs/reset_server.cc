// The server of the connect rows: bench_reset_server --address A --port P. Prints "ready".
//
// An ordinary accept loop that resets what it accepted. A side that closes an orderly connection
// first keeps it in TIME_WAIT, and a client whose ports are used up measures the search for a free
// one; a reset leaves nothing. It comes only kHeld connections later, because a reset that
// overtakes a blocking connect() would fail that call.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "args.h"

using namespace sockhop::bench;

namespace {

constexpr std::size_t kHeld = 256;

int listen_on(const sockaddr_in& name) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) fail("socket");
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // Accepted sockets inherit it: their close is a reset without a call per connection.
  const linger abort_on_close{.l_onoff = 1, .l_linger = 0};
  setsockopt(listener, SOL_SOCKET, SO_LINGER, &abort_on_close, sizeof abort_on_close);
  if (bind(listener, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) fail("bind");
  if (listen(listener, 4096) != 0) fail("listen");
  return listener;
}

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const int listener =
      listen_on(ipv4_name(args.text("--address", "0.0.0.0"), args.number("--port", 7000)));
  std::puts("ready");
  std::fflush(stdout);
  std::array<int, kHeld> held;
  held.fill(-1);
  for (std::size_t next = 0;; next = (next + 1) % kHeld) {
    if (held[next] >= 0) close(held[next]);
    do {
      held[next] = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    } while (held[next] < 0 && (errno == ECONNABORTED || errno == EINTR));
    if (held[next] < 0) fail("accept4");
  }
}
