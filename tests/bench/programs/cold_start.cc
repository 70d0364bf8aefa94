// Times fork + exec + first connect of a fresh process: bench_cold --address A --port P [--ms N]
// [--uid N]. The process runs as that uid, set before its exec.
//
// The fresh process is this program again, with `--once 1`: it connects, blocking, and ends; its
// socket closes by a reset (SO_LINGER 0), so that no port waits in TIME_WAIT. A cycle ends when the
// process has ended. Prints one JSON object: microseconds of a cycle (mean), number of cycles.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "base/unique_fd.h"
#include "clock.h"

using namespace sockhop::bench;
using sockhop::UniqueFd;

namespace {

void connect_once(const sockaddr_in& name) {
  const UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!client) fail("socket");
  const linger abort_on_close{.l_onoff = 1, .l_linger = 0};
  setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &abort_on_close, sizeof abort_on_close);
  if (connect(client.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
    fail("connect");
}

[[noreturn]] void become_fresh(const std::string& address, const std::string& port, long uid) {
  if (uid != 0 && setuid(static_cast<uid_t>(uid)) != 0) fail("setuid");
  execl("/proc/self/exe", "bench_cold", "--once", "1", "--address", address.c_str(), "--port",
        port.c_str(), nullptr);
  fail("exec");
}

void cycle(const std::string& address, const std::string& port, long uid) {
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) become_fresh(address, port, uid);
  int status = 0;
  if (waitpid(child, &status, 0) != child) fail("waitpid");
  if (status != 0) {
    std::fprintf(stderr, "the fresh process failed\n");
    std::exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const std::string address = args.text("--address", "127.0.0.1");
  const std::string port = args.text("--port", "7000");
  if (args.number("--once", 0) != 0) {
    connect_once(ipv4_name(address, args.number("--port", 7000)));
    return 0;
  }
  const long uid = args.number("--uid", 0);
  for (int i = 0; i < 5; ++i) cycle(address, port, uid);
  const std::int64_t begin = now_ns();
  const std::int64_t end = begin + args.number("--ms", 1000) * 1'000'000;
  long cycles = 0;
  while (now_ns() < end) {
    cycle(address, port, uid);
    ++cycles;
  }
  std::printf("{\"mean_us\": %.3f, \"cycles\": %ld}\n",
              static_cast<double>(now_ns() - begin) / static_cast<double>(cycles) / 1e3, cycles);
}
