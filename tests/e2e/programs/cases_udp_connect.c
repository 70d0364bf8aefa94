// Connected UDP sockets: whom they speak to, which name they show, and how they are connected
// again.
#include "cases.h"

static const char* wanted;

static int udp(int family) { return socket(family, SOCK_DGRAM, 0); }

static int port_of(int fd) {
  struct sockaddr_storage name = {0};
  socklen_t size = sizeof name;
  getsockname(fd, (struct sockaddr*)&name, &size);
  return ntohs(((struct sockaddr_in*)&name)->sin_port);
}

// As the kernel's bytes are written: without groups of zeros.
static const char* own6(void) {
  static char text[INET6_ADDRSTRLEN];
  const struct sockaddr_in6 name = v6(word("own6"), 0);
  return inet_ntop(AF_INET6, &name.sin6_addr, text, sizeof text);
}

static int dissolve(int fd) {
  const struct sockaddr nothing = {.sa_family = AF_UNSPEC};
  return connect(fd, &nothing, sizeof nothing);
}

static void talking(void) {
  int fd = udp(AF_INET);
  say("connect", to4(fd, &good4));
  side("v4", fd, wanted);
  say_own("name", fd, word("own4"));
  talk("talk", fd, fd);
  struct sockaddr_in peer;
  socklen_t size = sizeof peer;
  say("peer", getpeername(fd, (struct sockaddr*)&peer, &size));
  printf("  its port %d\n", ntohs(peer.sin_port));
  close(fd);
  fd = udp(AF_INET6);
  say("connect", to6(fd, &good6));
  side("v6", fd, wanted);
  say_own("name", fd, own6());
  talk("talk", fd, fd);
  close(fd);
  fd = udp(AF_INET6);
  const struct sockaddr_in6 good = v6(mapped(word("machine4")), atoi(word("port")));
  say("connect", to6(fd, &good));
  side("mapped", fd, wanted);
  say_own("name", fd, mapped(word("own4")));
  talk("talk", fd, fd);
  close(fd);
}

// What a program does that wants to know its own address: nothing is sent.
static void learn_my_address(void) {
  const int fd = udp(AF_INET);
  const struct sockaddr_in discard = v4(word("machine4"), 9);
  say("connect", to4(fd, &discard));
  side("to learn", fd, wanted);
  say_own("name", fd, word("own4"));
  const int port = port_of(fd);
  printf("  stable %d\n", port != 0 && port_of(fd) == port);
  close(fd);
}

static void again(void) {
  const int fd = udp(AF_INET), other = dup(fd);
  const struct sockaddr_in discard = v4(word("machine4"), 9);
  const struct sockaddr_in own = v4("127.0.0.1", 9);
  say("connect", to4(fd, &discard));
  const int port = port_of(fd);
  say("to another", to4(fd, &good4));
  side("another", fd, wanted);
  side("its duplicate", other, wanted);
  printf("  port kept %d\n", port_of(fd) == port);
  talk("talk", other, fd);
  say("dissolve", dissolve(fd));
  side("dissolved", fd, "stay");
  say_own("no name", fd, "0.0.0.0");
  say("anew", to4(fd, &good4));
  side("anew", fd, wanted);
  talk("talk", fd, fd);
  say("inside", to4(fd, &own));
  side("inside", fd, "stay");
  say_own("name is kept", fd, word("own4"));
  say("out again", to4(fd, &good4));
  talk("talk", fd, fd);
  close(fd);
  close(other);
}

static void refusals(void) {
  const int fd = udp(AF_INET);
  const struct sockaddr_in everybody = v4("255.255.255.255", 9);
  say("everybody", to4(fd, &everybody));
  say("v6 name", to6(fd, &good6));
  say("short", connect(fd, (const struct sockaddr*)&good4, 5));
  say("connect", to4(fd, &good4));
  say("v6 name", to6(fd, &good6));
  say("short", connect(fd, (const struct sockaddr*)&good4, 5));
  talk("talk", fd, fd);
  say("bind", bind4(fd, "0.0.0.0", 0));
  say("listen", listen(fd, 1));
  close(fd);
}

static void mixed(void) {
  const int fd = udp(AF_INET);
  const struct sockaddr_in second = v4(word("machine4"), atoi(word("second")));
  say("connect", to4(fd, &good4));
  say("elsewhere", sendto(fd, "x", 1, 0, (const struct sockaddr*)&second, sizeof second));
  talk("the peer", fd, fd);
  say("dissolve", dissolve(fd));
  say("sendto", sendto(fd, "y", 1, 0, (const struct sockaddr*)&second, sizeof second));
  struct pollfd one = {fd, POLLIN, 0};
  poll(&one, 1, kPatience);
  char byte = 0;
  say("recv", recv(fd, &byte, 1, MSG_DONTWAIT));
  printf("  same %d\n", byte == 'y');
  side("that has sent", fd, "stay");
  say("connect", to4(fd, &good4));
  side("that had a port", fd, "stay");
  talk("talk", fd, fd);
  close(fd);
}

static void bound(void) {
  const int fd = udp(AF_INET);
  say("bind", bind4(fd, "0.0.0.0", 0));
  say("connect", to4(fd, &good4));
  side("bound", fd, "stay");
  talk("talk", fd, fd);
  close(fd);
}

static const struct play plays[] = {{"talking", talking}, {"learn-my-address", learn_my_address},
                                    {"again", again},     {"refusals", refusals},
                                    {"mixed", mixed},     {"bound", bound},
                                    {NULL, NULL}};

int main(int argc, char** argv) {
  word_count = argc;
  words = argv;
  wanted = word("wanted");
  return run_plays(plays, argc, argv);
}
