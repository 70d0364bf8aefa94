// Connects that block for as long as the program lives: bench_hold --address A --port P --count N.
// Nobody must answer there. A connect that ends all the same, well or badly, ends the program.
#include <sys/socket.h>

#include <thread>
#include <vector>

#include "args.h"
#include "base/unique_fd.h"

using namespace sockhop::bench;
using sockhop::UniqueFd;

namespace {

void hold(const sockaddr_in& name) {
  const UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!client) fail("socket");
  if (connect(client.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
    fail("connect");
  std::fprintf(stderr, "somebody answered\n");
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const sockaddr_in name =
      ipv4_name(args.text("--address", "127.0.0.1"), args.number("--port", 7001));
  std::vector<std::thread> threads;
  for (long i = args.number("--count", 200); i > 0; --i) threads.emplace_back(hold, name);
  for (std::thread& thread : threads) thread.join();
}
