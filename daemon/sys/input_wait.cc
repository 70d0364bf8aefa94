#include "sys/input_wait.h"

#include <poll.h>
#include <signal.h>

#include <cerrno>

namespace sockhop::sys {
namespace {

volatile sig_atomic_t ending = 0;

void note_signal(int) { ending = 1; }

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

// The signals stay blocked but for the moment of ppoll, so none is lost between test and sleep.
bool sleep_until_readable(FdRef descriptor) {
  pollfd state{descriptor.get(), POLLIN, 0};
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  sigdelset(&mask, SIGTERM);
  sigdelset(&mask, SIGINT);
  while (!ending) {
    const int ready = ::ppoll(&state, 1, nullptr, &mask);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
  return false;
}

void end_on_signal() {
  const sigset_t set = ending_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  struct sigaction action {};
  action.sa_handler = note_signal;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
}

}  // namespace sockhop::sys
