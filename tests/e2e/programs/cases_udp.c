// UDP by connect() and without, and what else never leaves the container by a connect().
//
// The word udp=hop says that the policy lets connected sockets hop.
#include <net/if.h>
#include <netdb.h>

#include "cases.h"

static const char* wanted(void) { return strcmp(word("udp"), "hop") == 0 ? "hop" : "stay"; }
static int udp(void) { return socket(AF_INET, SOCK_DGRAM, 0); }
static int udp6(void) { return socket(AF_INET6, SOCK_DGRAM, 0); }

// The first datagrams of a flow may be lost on the way; a client asks again.
static void echo(const char* what, int fd, const void* to, socklen_t size) {
  static unsigned number;
  unsigned said = ++number, heard = 0;
  for (int tries = 0; tries < 20 && heard != said; ++tries) {
    if (sendto(fd, &said, sizeof said, 0, to, size) < 0) return say(what, -1);
    struct pollfd one = {fd, POLLIN, 0};
    poll(&one, 1, 500);
    recv(fd, &heard, sizeof heard, MSG_DONTWAIT);
  }
  printf("  %s: %s\n", what, heard == said ? "same" : "nothing");
  fflush(stdout);
}

static void learn_own_name(void) {
  const struct sockaddr_in there = v4(word("machine4"), 9);
  const struct sockaddr_in6 there6 = v6(word("machine6"), 9);
  int fd = udp();
  say("connect", to4(fd, &there));
  say_own("own name", fd, word("own4"));
  say_own("own name again", fd, word("own4"));
  side("nothing sent", fd, wanted());
  close(fd);
  fd = udp6();
  say("connect v6", to6(fd, &there6));
  say_own("own name v6", fd, word("own6"));
  close(fd);
  fd = udp6();
  const struct sockaddr_in6 as_mapped = v6(mapped(word("machine4")), 9);
  say("connect mapped", to6(fd, &as_mapped));
  say_own("own name mapped", fd, mapped(word("own4")));
  close(fd);
}

static void talking(void) {
  const struct sockaddr_in machine = v4(word("machine4"), atoi(word("port")));
  const struct sockaddr_in nobody = {.sin_family = AF_UNSPEC};
  int fd = udp();
  say("connect", to4(fd, &machine));
  side("connected", fd, wanted());
  echo("connected", fd, NULL, 0);
  say("connect again", to4(fd, &machine));
  echo("connected again", fd, NULL, 0);
  echo("with an address", fd, &machine, sizeof machine);
  say("dissolve", to4(fd, &nobody));
  say("without an address", send(fd, "x", 1, 0));
  echo("unconnected", fd, &machine, sizeof machine);
  close(fd);
  fd = udp6();
  const struct sockaddr_in6 as_mapped = v6(mapped(word("machine4")), atoi(word("port")));
  echo("mapped", fd, &as_mapped, sizeof as_mapped);
  echo("v6", fd, &good6, sizeof good6);
  say("connect v6", to6(fd, &good6));
  echo("connected v6", fd, NULL, 0);
  close(fd);
}

// One socket, several destinations in turn.
static void mixed(void) {
  const struct sockaddr_in machine = v4(word("machine4"), atoi(word("port")));
  const int server = udp(), fd = udp();
  say("bind", bind4(server, "127.0.0.1", 0));
  struct sockaddr_in own;
  socklen_t size = sizeof own;
  getsockname(server, (struct sockaddr*)&own, &size);
  for (int i = 0; i < 3; ++i) {
    echo("machine", fd, &machine, sizeof machine);
    say("own loopback", sendto(fd, "here", 4, 0, (struct sockaddr*)&own, sizeof own));
    char heard[4] = "";
    struct pollfd one = {server, POLLIN, 0};
    poll(&one, 1, kPatience);
    printf("  arrived %d\n", (int)recv(server, heard, sizeof heard, MSG_DONTWAIT));
  }
  struct iovec part = {"many", 4};
  struct mmsghdr two[2] = {
      {.msg_hdr = {(void*)&machine, sizeof machine, &part, 1, NULL, 0, 0}},
      {.msg_hdr = {&own, sizeof own, &part, 1, NULL, 0, 0}},
  };
  printf("  sendmmsg %d\n", sendmmsg(fd, two, 2, 0));
  struct pollfd one = {server, POLLIN, 0};
  poll(&one, 1, kPatience);
  char heard[4];
  printf("  arrived %d\n", (int)recv(server, heard, sizeof heard, MSG_DONTWAIT));
  close(server), close(fd);
}

static void refused(void) {
  const struct sockaddr_in own = v4("127.0.0.1", 9);
  const int fd = udp();
  say("connect", to4(fd, &own));
  side("own loopback", fd, "stay");
  say("send", send(fd, "x", 1, 0));
  struct pollfd one = {fd, POLLIN, 0};
  poll(&one, 1, kPatience);
  say("what came of it", recv(fd, &(char){0}, 1, MSG_DONTWAIT));
  close(fd);
}

// Every spelling of loopback, by connect and by sendto, at a port where the host listens.
static void loopback(void) {
  static const char* spellings[] = {"127.0.0.1", "127.1.2.3",        "0.0.0.0",       "::1",
                                    "::",        "::ffff:127.0.0.1", "::ffff:0.0.0.0"};
  const int port = atoi(word("logger"));
  for (size_t i = 0; i < sizeof spellings / sizeof *spellings; ++i) {
    const struct sockaddr_in name = v4(spellings[i], port);
    const struct sockaddr_in6 name6 = v6(spellings[i], port);
    const int six = strchr(spellings[i], ':') != NULL;
    const void* at = six ? (const void*)&name6 : &name;
    const socklen_t size = six ? sizeof name6 : sizeof name;
    int fd = six ? udp6() : udp();
    say(spellings[i], sendto(fd, "x", 1, 0, at, size));
    close(fd);
    fd = six ? udp6() : udp();
    say("connect", connect(fd, at, size));
    say("send", send(fd, "x", 1, 0));
    side(spellings[i], fd, "stay");
    close(fd);
  }
}

static void sorted_names(void) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *all = NULL;
  const int failed = getaddrinfo("two.example", "80", &hints, &all);
  printf("  getaddrinfo %s\n", failed ? gai_strerror(failed) : "ok");
  for (struct addrinfo* one = all; one != NULL; one = one->ai_next)
    printf("~ %s\n", one->ai_family == AF_INET ? "v4" : "v6");
  if (all != NULL) freeaddrinfo(all);
}

static const struct play plays[] = {{"learn-own-name", learn_own_name},
                                    {"talking", talking},
                                    {"mixed", mixed},
                                    {"refused", refused},
                                    {"loopback", loopback},
                                    {"sorted-names", sorted_names},
                                    {NULL, NULL}};

int main(int argc, char** argv) { return run_plays(plays, argc, argv); }
