// A socket that was on the host is used for what only a socket of the container can do: each number
// that names it does that too.
#include <sys/epoll.h>

#include "cases.h"

enum { kDups = 20 };

static int refused_socket(void) {
  const int fd = tcp(SOCK_NONBLOCK);
  say("connect", to4(fd, &refused4));
  wait_out(fd);
  return fd;
}

static int own_port(int fd) {
  struct sockaddr_in name = {0};
  socklen_t size = sizeof name;
  getsockname(fd, (struct sockaddr*)&name, &size);
  return ntohs(name.sin_port);
}

static int is_listener(int fd) {
  int value = -1;
  socklen_t size = sizeof value;
  getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &size);
  return value;
}

// Comes in through the last of the numbers, which an epoll set watches.
static void come_in(int number) {
  const int set = epoll_create1(0), client = tcp(0);
  struct epoll_event event = {.events = EPOLLIN, .data.u64 = 5};
  epoll_ctl(set, EPOLL_CTL_ADD, number, &event);
  const struct sockaddr_in name = v4("127.0.0.1", own_port(number));
  say("come in", to4(client, &name));
  printf("  events %d\n", epoll_wait(set, &event, 1, kPatience));
  const int got = accept(number, NULL, NULL);
  say("accept", got);
  say("send", send(client, "x", 1, MSG_NOSIGNAL));
  char byte = 0;
  printf("  received %d\n", (int)recv(got, &byte, 1, 0));
  close(got);
  close(client);
  close(set);
}

static void listen_with_duplicates(int fd) {
  int all[kDups];
  for (int i = 0; i < kDups; ++i) all[i] = dup(fd);
  say("bind", bind4(all[3], "0.0.0.0", 0));
  int same = 0, listeners = 0;
  for (int i = 0; i < kDups; ++i) same += own_port(all[i]) == own_port(fd) && own_port(fd) != 0;
  say("listen", listen(fd, 4));
  for (int i = 0; i < kDups; ++i) listeners += is_listener(all[i]);
  printf("  of the same port %d, listeners %d\n", same, listeners);
  side("first", fd, "stay");
  side("last", all[kDups - 1], "stay");
  come_in(all[kDups - 1]);
  for (int i = 0; i < kDups; ++i) close(all[i]);
  close(fd);
}

static void after_refusal(void) {
  const int fd = refused_socket();
  say_error(fd);
  say("its end", to4(fd, &good4));
  listen_with_duplicates(fd);
}

static void after_second_call(void) {
  const int fd = refused_socket(), other = dup(fd);
  say("again", to4(fd, &refused4));
  side("first", fd, "stay");
  side("second", other, "stay");
  listen_with_duplicates(fd);
  close(other);
}

static void after_dissolving(void) {
  const int fd = tcp(0);
  say("connect", to4(fd, &good4));
  const struct sockaddr nothing = {.sa_family = AF_UNSPEC};
  say("dissolve", connect(fd, &nothing, sizeof nothing));
  listen_with_duplicates(fd);
}

// The watch of a duplicate goes with it.
static void watched_duplicate(void) {
  const int fd = refused_socket(), other = dup(fd), set = epoll_create1(0);
  say_error(fd);
  struct epoll_event event = {.events = EPOLLIN, .data.u64 = 9};
  epoll_ctl(set, EPOLL_CTL_ADD, other, &event);
  say("its end", to4(fd, &good4));
  say("anew", to4(fd, &good4));
  wait_out(fd);
  say_error(fd);
  side("first", fd, "hop");
  side("second", other, "hop");
  say("send", send(fd, "x", 1, MSG_NOSIGNAL));
  struct pollfd one = {fd, POLLIN, 0};
  poll(&one, 1, kPatience);
  const int count = epoll_wait(set, &event, 1, kPatience);
  printf("  events %d in %d of %d\n", count, (event.events & EPOLLIN) != 0, (int)event.data.u64);
  close(fd);
  close(other);
  close(set);
}

static void in_a_child(void) {
  const int fd = refused_socket();
  say_error(fd);
  say("its end", to4(fd, &good4));
  const pid_t child = fork();
  if (child == 0) {
    listen_with_duplicates(fd);
    _exit(0);
  }
  wait_child(child);
  close(fd);
}

static const struct play plays[] = {{"after-refusal", after_refusal},
                                    {"after-second-call", after_second_call},
                                    {"after-dissolving", after_dissolving},
                                    {"watched-duplicate", watched_duplicate},
                                    {"in-a-child", in_a_child},
                                    {NULL, NULL}};

int main(int argc, char** argv) { return run_plays(plays, argc, argv); }
