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
#include "base/unique_fd.h"

using namespace sockhop::bench;
using sockhop::UniqueFd;

namespace {

constexpr std::size_t kHeld = 256;

UniqueFd listen_on(const sockaddr_in& name) {
  UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!listener) fail("socket");
  const int on = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // Accepted sockets inherit it: their close is a reset without a call per connection.
  const linger abort_on_close{.l_onoff = 1, .l_linger = 0};
  setsockopt(listener.get(), SOL_SOCKET, SO_LINGER, &abort_on_close, sizeof abort_on_close);
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
    fail("bind");
  if (listen(listener.get(), 4096) != 0) fail("listen");
  return listener;
}

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const UniqueFd listener =
      listen_on(ipv4_name(args.text("--address", "0.0.0.0"), args.number("--port", 7000)));
  std::puts("ready");
  std::fflush(stdout);
  std::array<UniqueFd, kHeld> held;
  for (std::size_t next = 0;; next = (next + 1) % kHeld) {
    held[next].reset();
    do {
      held[next] = UniqueFd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    } while (!held[next] && (errno == ECONNABORTED || errno == EINTR));
    if (!held[next]) fail("accept4");
  }
}
