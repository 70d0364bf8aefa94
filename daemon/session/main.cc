// sockhop-session: the process pair that serves one container. Started by sockhopd, never by hand.
#include <spdlog/spdlog.h>

#include <csignal>
#include <cstdio>
#include <string_view>

#include "session/engine.h"
#include "session/guard.h"

namespace {

int usage() {
  std::fputs(
      "sockhop-session serves one container and is started by sockhopd.\n"
      "Start sockhopd instead: see sockhopd(8).\n",
      stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::puts("sockhop-session " SOCKHOP_VERSION);
    return 0;
  }
  if (argc != 3 || std::string_view(argv[1]) != "--id") return usage();
  std::signal(SIGPIPE, SIG_IGN);
  const auto memory = sockhop::session::prepare();
  if (!memory) {
    spdlog::error("container {}: {}", argv[2], to_string(memory.error()));
    return 1;
  }
  if (*memory == nullptr) return 0;
  return sockhop::session::guard(**memory, sockhop::session::run_engine);
}
