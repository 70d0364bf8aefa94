// An address of the host itself as a destination.
#include "cases.h"

static void host_address(void) {
  const struct sockaddr_in host = v4(word("host4"), atoi(word("server")));
  const struct sockaddr_in nobody = v4(word("host4"), 9);
  int fd = tcp(0);
  say("connect", to4(fd, &host));
  side("the host's address", fd, word("wanted"));
  say_own("name", fd, word("own4"));
  talk("talk", fd, fd);
  close(fd);
  fd = tcp(0);
  say("nobody", to4(fd, &nobody));
  close(fd);
  fd = tcp(SOCK_NONBLOCK);
  say("connect", to4(fd, &host));
  wait_out(fd);
  say_error(fd);
  talk("talk", fd, fd);
  close(fd);
}

// What means the container itself goes nowhere else.
static void loopback(void) {
  const char* const all[] = {"127.0.0.1", "127.1.2.3", "0.0.0.0", word("own4")};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    const struct sockaddr_in name = v4(all[i], atoi(word("server")));
    const int fd = tcp(0);
    say_inside("own", to4(fd, &name));
    side("own", fd, "stay");
    close(fd);
  }
}

static const struct play plays[] = {
    {"host-address", host_address}, {"loopback", loopback}, {NULL, NULL}};

int main(int argc, char** argv) { return run_plays(plays, argc, argv); }
