// A container's first process whose first calls are connects: HOST PORT pairs; prints what they
// gave.
#include <signal.h>

#include "cases.h"

int main(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const int six = strchr(argv[i], ':') != NULL, fd = six ? tcp6(0) : tcp(0);
    const struct sockaddr_in name = v4(argv[i], atoi(argv[i + 1]));
    const struct sockaddr_in6 name6 = v6(argv[i], atoi(argv[i + 1]));
    const int result = six ? to6(fd, &name6) : to4(fd, &name);
    printf("%s ", result < 0 ? strerrorname_np(errno) : "ok");
    close(fd);
  }
  printf("done\n");
  fflush(stdout);
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  int number;
  sigprocmask(SIG_BLOCK, &term, NULL);
  return sigwait(&term, &number);
}
