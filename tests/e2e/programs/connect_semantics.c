// What connect(2), poll(2) and epoll(7) say in every order that programs use, as a transcript.
//
//   connect_semantics ADDRESS PORT REFUSED_PORT SILENT_PORT
//
// PORT repeats four bytes, REFUSED_PORT refuses, SILENT_PORT answers nothing. Two kernels (or one
// kernel and sockhop) that behave the same print the same: no address, port or duration is shown.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kPatience = 5000, kShort = 300 };

static int family;
static union {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
} good, refused, silent;
static socklen_t name_size;

static void say(const char* what, long result) {
  const int error = errno;
  printf("  %s: %s\n", what, result < 0 ? strerrorname_np(error) : result == 0 ? "ok" : "yes");
  fflush(stdout);
}

static long long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static int tcp(int flags) { return socket(family, SOCK_STREAM | flags, 0); }

static int to(int fd, const void* name) { return connect(fd, name, name_size); }

static void say_error(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  printf("  SO_ERROR: %s\n", error ? strerrorname_np(error) : "0");
}

static void say_events(const char* what, unsigned events) {
  static const struct {
    unsigned bit;
    const char* name;
  } names[] = {{EPOLLIN, " IN"},
               {EPOLLOUT, " OUT"},
               {EPOLLERR, " ERR"},
               {EPOLLHUP, " HUP"},
               {EPOLLRDHUP, " RDHUP"}};
  printf("  %s:", what);
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (events & names[i].bit) printf("%s", names[i].name);
  printf("%s\n", events ? "" : " nothing");
  fflush(stdout);
}

static void say_poll(int fd, short events, int patience) {
  struct pollfd one = {fd, events, 0};
  poll(&one, 1, patience);
  say_events("poll", (unsigned)one.revents);
}

static void watch(int set, int fd, unsigned events, uint64_t data) {
  struct epoll_event event = {.events = events, .data = {.u64 = data}};
  epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
}

static void say_epoll(int set, int patience) {
  struct epoll_event event = {0};
  const int count = epoll_wait(set, &event, 1, patience);
  printf("  data %llx", count == 1 ? (unsigned long long)event.data.u64 : 0ULL);
  say_events(" epoll", count == 1 ? event.events : 0);
}

static void say_talk(int out, int in) {
  static uint32_t word = 0;
  uint32_t heard = 0;
  ++word;
  if (send(out, &word, sizeof word, MSG_NOSIGNAL) != sizeof word) {
    say("send", -1);
    return;
  }
  struct pollfd one = {in, POLLIN, 0};
  poll(&one, 1, kPatience);
  const ssize_t got = recv(in, &heard, sizeof heard, MSG_DONTWAIT);
  if (got < 0)
    say("recv", -1);
  else
    printf("  talk: %s\n", heard == word ? "same" : "other");
}

static void blocking(void) {
  const int fd = tcp(SOCK_CLOEXEC);
  say("connect", to(fd, &good));
  say("connect again", to(fd, &good));
  say_error(fd);
  say_poll(fd, POLLIN | POLLOUT, kPatience);
  printf("  flags %x %x\n", fcntl(fd, F_GETFL) & O_NONBLOCK, fcntl(fd, F_GETFD));
  say_talk(fd, fd);
  close(fd);
}

static void blocking_refused(void) {
  const int fd = tcp(0);
  say("connect", to(fd, &refused));
  say_error(fd);
  say_poll(fd, POLLIN | POLLOUT, kShort);
  say("refused again", to(fd, &refused));
  say("connect", to(fd, &good));
  say_talk(fd, fd);
  close(fd);
}

static void nonblocking(void) {
  const int fd = tcp(SOCK_NONBLOCK);
  say_poll(fd, POLLIN | POLLOUT, kShort);
  say("connect", to(fd, &good));
  say_poll(fd, POLLOUT, kPatience);
  say_error(fd);
  say("connect again", to(fd, &good));
  say("and again", to(fd, &good));
  printf("  flags %x %x\n", fcntl(fd, F_GETFL) & O_NONBLOCK, fcntl(fd, F_GETFD));
  say_talk(fd, fd);
  close(fd);
}

static void nonblocking_refused(int ask) {
  const int fd = tcp(SOCK_NONBLOCK);
  say("connect", to(fd, &refused));
  say_poll(fd, POLLIN | POLLOUT, kPatience);
  if (ask) {
    say_error(fd);
    say_error(fd);
  }
  say("connect again", to(fd, &refused));
  say("connect", to(fd, &good));
  say_poll(fd, POLLOUT, kPatience);
  say_error(fd);
  say_talk(fd, fd);
  close(fd);
}
static void refused_asked(void) { nonblocking_refused(1); }
static void refused_not_asked(void) { nonblocking_refused(0); }

static void in_progress(void) {
  const int fd = tcp(SOCK_NONBLOCK);
  const struct sockaddr nobody = {.sa_family = AF_UNSPEC};
  say("connect", to(fd, &silent));
  say("connect again", to(fd, &silent));
  say("elsewhere", to(fd, &good));
  say_poll(fd, POLLIN | POLLOUT, kShort);
  say_error(fd);
  say("unconnect", connect(fd, &nobody, sizeof nobody));
  say_poll(fd, POLLIN | POLLOUT, kShort);
  say("connect", to(fd, &good));
  say_poll(fd, POLLOUT, kPatience);
  say_talk(fd, fd);
  close(fd);
}

static void unspecified(void) {
  const int fd = tcp(0);
  const struct sockaddr nobody = {.sa_family = AF_UNSPEC};
  say("unconnect", connect(fd, &nobody, sizeof nobody));
  say("connect", to(fd, &good));
  say("unconnect", connect(fd, &nobody, sizeof nobody));
  say_poll(fd, POLLIN | POLLOUT, kShort);
  say("send", send(fd, "x", 1, MSG_NOSIGNAL));
  say("connect", to(fd, &good));
  say_talk(fd, fd);
  close(fd);
}

static void timed(const char* what, int fd) {
  const long long begin = now_ms();
  say(what, to(fd, &silent));
  const long long took = now_ms() - begin;
  printf("  %s\n", took >= kShort - 50 && took < kShort + 2000 ? "in time" : "not in time");
}

static void send_timeout(void) {
  const int fd = tcp(0);
  const struct timeval patience = {0, kShort * 1000};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  timed("connect", fd);
  timed("connect again", fd);
  say_poll(fd, POLLIN | POLLOUT, kShort);
  close(fd);
}

static void epoll_before(unsigned events) {
  const int fd = tcp(SOCK_NONBLOCK), first = epoll_create1(0), second = epoll_create1(0);
  const int twin = dup(fd);
  watch(first, fd, events | EPOLLOUT, 0xa1);
  watch(second, fd, events | EPOLLIN, 0xb1);
  watch(second, twin, EPOLLOUT | EPOLLONESHOT, 0xb2);
  say("connect", to(fd, &good));
  say_poll(fd, POLLOUT, kPatience);
  say_epoll(first, kPatience);
  say_epoll(first, kShort);
  say_epoll(second, kPatience);
  say_epoll(second, kShort);
  say_talk(twin, fd);
  say_epoll(second, kShort);
  struct epoll_event event = {.events = EPOLLIN};
  say("modify", epoll_ctl(second, EPOLL_CTL_MOD, fd, &event));
  say("delete", epoll_ctl(second, EPOLL_CTL_DEL, twin, NULL));
  say("add", epoll_ctl(first, EPOLL_CTL_ADD, fd, &event));
  close(fd);
  close(twin);
  say_epoll(first, 0);
  close(first);
  close(second);
}
static void epoll_level(void) { epoll_before(0); }
static void epoll_edge(void) { epoll_before(EPOLLET); }
static void epoll_once(void) { epoll_before(EPOLLONESHOT); }

static void epoll_refused(void) {
  const int fd = tcp(SOCK_NONBLOCK), set = epoll_create1(0);
  watch(set, fd, EPOLLIN | EPOLLOUT | EPOLLET, 0xc1);
  say_epoll(set, kShort);
  say("connect", to(fd, &refused));
  say_poll(fd, POLLOUT, kPatience);
  say_epoll(set, kPatience);
  say_error(fd);
  struct epoll_event event = {.events = EPOLLIN};
  say("modify", epoll_ctl(set, EPOLL_CTL_MOD, fd, &event));
  close(fd);
  close(set);
}

static void epoll_after(void) {
  const int fd = tcp(SOCK_NONBLOCK), set = epoll_create1(0);
  say("connect", to(fd, &good));
  watch(set, fd, EPOLLOUT | EPOLLONESHOT, 0xd1);
  say_epoll(set, kPatience);
  say_epoll(set, kShort);
  close(fd);
  close(set);
}

static void duplicates(void) {
  const int fd = tcp(0), twin = dup(fd), third = fcntl(fd, F_DUPFD_CLOEXEC, 100);
  say("connect", to(twin, &good));
  say("connect of the other", to(fd, &good));
  printf("  flags %x %x %x\n", fcntl(fd, F_GETFD), fcntl(twin, F_GETFD), fcntl(third, F_GETFD));
  close(twin);
  say_talk(fd, third);
  close(fd);
  close(third);
}

static void two_processes(void) {
  const int fd = tcp(0);
  int ends[2];
  if (pipe(ends) != 0) return;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    char word;
    close(ends[1]);
    if (read(ends[0], &word, 1) == 1) say_talk(fd, fd);
    _exit(0);
  }
  say("connect", to(fd, &good));
  if (write(ends[1], "x", 1) != 1) say("write", -1);
  waitpid(child, NULL, 0);
  say_poll(fd, POLLOUT, kPatience);
  close(fd);
  close(ends[0]);
  close(ends[1]);
}

static void bad_calls(void) {
  const int fd = tcp(0);
  const int other = family == AF_INET ? AF_INET6 : AF_INET;
  struct sockaddr_in6 name = {.sin6_family = (sa_family_t)other};
  say("other family", connect(fd, (struct sockaddr*)&name, sizeof name));
  say("short", connect(fd, &good.any, 1));
  say("half", connect(fd, &good.any, 8));
  say("negative", connect(fd, &good.any, (socklen_t)-1));
  say("huge", connect(fd, &good.any, 1000));
  say("no pointer", connect(fd, (struct sockaddr*)8, name_size));
  say("closed", to(999, &good));
  say("no socket", to(1, &good));
  say("still good", to(fd, &good));
  say("connected: other family", connect(fd, (struct sockaddr*)&name, sizeof name));
  close(fd);
  const int listener = tcp(0);
  say("listen", listen(listener, 1));
  say("of a listener", to(listener, &good));
  close(listener);
}

static void names(void) {
  const int fd = tcp(0);
  struct sockaddr_storage name;
  socklen_t size = sizeof name;
  say("connect", to(fd, &good));
  say("peer", getpeername(fd, (struct sockaddr*)&name, &size));
  printf("  %s %d\n", memcmp(&name, &good, 8) == 0 ? "as asked" : "other", (int)size);
  size = sizeof name;
  say("own", getsockname(fd, (struct sockaddr*)&name, &size));
  printf("  family %d size %d port %d\n", name.ss_family == family, (int)size,
         ((struct sockaddr_in*)&name)->sin_port != 0);
  close(fd);
}

static void prepare(const char* address, const char* port, void* into) {
  if (strchr(address, ':') == NULL) {
    struct sockaddr_in* name = into;
    name->sin_family = AF_INET;
    name->sin_port = htons((uint16_t)atoi(port));
    inet_pton(AF_INET, address, &name->sin_addr);
    name_size = sizeof *name;
    family = AF_INET;
  } else {
    struct sockaddr_in6* name = into;
    name->sin6_family = AF_INET6;
    name->sin6_port = htons((uint16_t)atoi(port));
    inet_pton(AF_INET6, address, &name->sin6_addr);
    name_size = sizeof *name;
    family = AF_INET6;
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*play)(void);
  } plays[] = {
      {"blocking", blocking},
      {"blocking, refused", blocking_refused},
      {"non-blocking", nonblocking},
      {"refused, SO_ERROR", refused_asked},
      {"refused, connect", refused_not_asked},
      {"in progress", in_progress},
      {"AF_UNSPEC", unspecified},
      {"SO_SNDTIMEO", send_timeout},
      {"epoll, level", epoll_level},
      {"epoll, edge", epoll_edge},
      {"epoll, once", epoll_once},
      {"epoll, refused", epoll_refused},
      {"epoll after", epoll_after},
      {"duplicates", duplicates},
      {"two processes", two_processes},
      {"bad calls", bad_calls},
      {"names", names},
  };
  if (argc != 5) return 2;
  prepare(argv[1], argv[2], &good);
  prepare(argv[1], argv[3], &refused);
  prepare(argv[1], argv[4], &silent);
  for (size_t i = 0; i < sizeof plays / sizeof *plays; ++i) {
    printf("%s\n", plays[i].name);
    plays[i].play();
  }
  return 0;
}
