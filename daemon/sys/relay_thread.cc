#include "sys/relay_thread.h"

#include <csignal>

namespace sockhop::sys {

void block_broken_pipe_signal() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

}  // namespace sockhop::sys
