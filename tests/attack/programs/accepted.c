// Serves a published port and turns each accepted connection against the host's loopback.
//
//   accepted PORT COUNT LOGGER_PORT
//
// Takes COUNT connections; one line per attempt: NAME RESULT ERRNO. "side" is 0 for a socket of
// another namespace than the container's.
#include "attack.h"

static void tell(const char* name, long result) {
  printf("%s %d %d\n", name, result < 0 ? -1 : 0, result < 0 ? errno : 0);
}

int main(int argc, char** argv) {
  usage_unless(argc == 4, "accepted PORT COUNT LOGGER_PORT");
  const int logger_port = atoi(argv[3]);
  struct sockaddr_in own = v4("0.0.0.0", atoi(argv[1]));
  struct sockaddr_in loopback = v4("127.0.0.1", logger_port);
  int listener = tcp_socket(AF_INET);
  if (do_bind(listener, &own, sizeof own) < 0 || do_listen(listener, 64) < 0) return 1;
  for (int i = 0; i < atoi(argv[2]); ++i) {
    int fd = do_accept(listener);
    if (fd < 0) return 1;
    printf("side %d 0\n", is_inside(fd) ? -1 : 0);
    tell("bind to lo", setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 2));
    int other = dup(fd);
    tell("connect", connect4(fd, "127.0.0.1", logger_port));
    tell("fastopen", do_sendto(fd, MSG_FASTOPEN, &loopback, sizeof loopback));
    dissolve(fd);
    tell("unspec,connect", connect4(fd, "127.0.0.1", logger_port));
    tell("unspec,connect by a duplicate", connect4(other, "127.0.0.1", logger_port));
    tell("unspec,fastopen", do_sendto(other, MSG_FASTOPEN, &loopback, sizeof loopback));
    close(fd);
    close(other);
    fflush(stdout);
  }
  return 0;
}
