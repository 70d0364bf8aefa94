// What an application did with a socket before connect() it finds again after it.
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "cases.h"

static void say_flags(const char* what, int fd) {
  printf("  %s: cloexec %d nonblock %d async %d\n", what, (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0,
         (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0, (fcntl(fd, F_GETFL) & O_ASYNC) != 0);
}

static void flags(void) {
  for (int i = 0; i < 4; ++i) {
    const int fd = tcp((i & 1 ? SOCK_CLOEXEC : 0) | (i & 2 ? SOCK_NONBLOCK : 0));
    say("connect", to4(fd, &good4));
    wait_out(fd);
    say_flags("after", fd);
    side("flags", fd, "hop");
    talk("talk", fd, fd);
    close(fd);
  }
  const int fd = tcp(0);
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  say("connect", to4(fd, &good4));
  say_flags("set between", fd);
  close(fd);
}

static void stray(void) {
  // What a program started from here finds open: as many as before, none of them ours.
  const int kept = tcp(0), gone = tcp(SOCK_CLOEXEC);
  say("connect", to4(kept, &good4));
  say("connect", to4(gone, &good4));
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "cases", "count", NULL);
    _exit(100);
  }
  printf("  open: %d\n", wait_child(child));
  close(kept);
  close(gone);
}

static int count_open(void) {
  int open = 0;
  for (int fd = 3; fd < 1000; ++fd) open += fcntl(fd, F_GETFD) >= 0;
  return open;
}

static void full_table(void) {
  struct rlimit before, tight;
  getrlimit(RLIMIT_NOFILE, &before);
  const int fd = tcp(0);
  tight = before;
  tight.rlim_cur = (rlim_t)fd + 1;
  setrlimit(RLIMIT_NOFILE, &tight);
  say("one more", tcp(0));
  say("connect", to4(fd, &good4));
  side("full table", fd, "hop");
  talk("talk", fd, fd);
  setrlimit(RLIMIT_NOFILE, &before);
  close(fd);
  const int high = tcp(0);
  tight.rlim_cur = (rlim_t)high;
  setrlimit(RLIMIT_NOFILE, &tight);
  say("connect above the limit", to4(high, &good4));
  side("above the limit", high, "stay");
  talk("talk", high, high);
  setrlimit(RLIMIT_NOFILE, &before);
  close(high);
}

static void fionbio(void) {
  const int fd = tcp(0);
  int on = 1, off = 0;
  set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  ioctl(fd, FIONBIO, &on);
  say("to nobody", to4(fd, &silent4));
  say("again", to4(fd, &silent4));
  close(fd);
  const int other = tcp(0);
  set_int(other, SOL_SOCKET, SO_KEEPALIVE, 1);
  ioctl(other, FIONBIO, &on);
  say("connect", to4(other, &good4) == 0 || errno == EINPROGRESS ? 0 : -1);
  wait_out(other);
  char byte;
  say("recv", recv(other, &byte, 1, 0));
  ioctl(other, FIONBIO, &off);
  say_flags("after", other);
  say_option("SO_KEEPALIVE", other, SOL_SOCKET, SO_KEEPALIVE);
  side("FIONBIO", other, "hop");
  close(other);
}

static void forked(void) {
  const int fd = tcp(0), copy = dup(fd);
  set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, 77);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    say("child connects", to4(fd, &good4));
    say_option("nodelay", fd, IPPROTO_TCP, TCP_NODELAY);
    say_option("idle", fd, IPPROTO_TCP, TCP_KEEPIDLE);
    talk("child", fd, copy);
    _exit(0);
  }
  wait_child(child);
  talk("parent", fd, copy);
  say_option("idle", copy, IPPROTO_TCP, TCP_KEEPIDLE);
  say("again", to4(fd, &good4));
  close(fd);
  close(copy);
}

static void duplicated(void) {
  const int fd = tcp(0), copy = dup(fd);
  set_int(copy, IPPROTO_TCP, TCP_NODELAY, 1);
  say("connect", to4(fd, &good4));
  side("the one", fd, "hop");
  side("its duplicate", copy, "hop");
  say_option("nodelay", copy, IPPROTO_TCP, TCP_NODELAY);
  talk("through both", fd, copy);
  close(fd);
  talk("through what is left", copy, copy);
  close(copy);
}

static void executed(void) {
  const int fd = tcp(0);
  char number[16];
  set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, 78);
  snprintf(number, sizeof number, "%d", fd);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    char* next[32] = {"cases", "connect", number};
    for (int i = 1; i < word_count && i < 28; ++i) next[i + 2] = words[i];
    execv("/proc/self/exe", next);
    _exit(100);
  }
  wait_child(child);
  talk("parent", fd, fd);
  close(fd);
}

static void after_exec(int fd) {
  say("after exec", to4(fd, &good4));
  say_option("idle", fd, IPPROTO_TCP, TCP_KEEPIDLE);
  talk("executed", fd, fd);
}

static void reused(void) {
  int fd = tcp(0);
  say("connect", to4(fd, &good4));
  side("first", fd, "hop");
  int ends[2];
  if (pipe(ends) < 0) return;
  dup2(ends[1], fd);
  say("write into the pipe", write(fd, "x", 1));
  say("connect a pipe", to4(fd, &good4));
  say("name of a pipe", getsockname(fd, (struct sockaddr*)&(struct sockaddr_in){0},
                                    &(socklen_t){sizeof(struct sockaddr_in)}));
  close_range((unsigned)ends[0], ~0U, 0);
  fd = fd < ends[0] ? fd : tcp(0);
  close(fd);
  const int next = tcp(0);
  printf("  same number %d\n", next == fd);
  const struct sockaddr_in own = v4("127.0.0.1", 9);
  say("own loopback", to4(next, &own));
  side("refused by its own", next, "stay");
  dup2(ends[0] = tcp(0), next);
  close(ends[0]);
  say("connect", to4(next, &good4));
  side("second", next, "hop");
  talk("talk", next, next);
  close(next);
}

static void peer_name(void) {
  struct {
    char name[4];
    char guard[28];
  } room;
  const struct sockaddr_in* wanted = &good4;
  socklen_t size = sizeof room.name;
  memset(&room, 0x5a, sizeof room);
  int fd = tcp(0);
  say("unconnected", getpeername(fd, (struct sockaddr*)&room, &size));
  to4(fd, &refused4);
  say("refused", getpeername(fd, (struct sockaddr*)&room, &size));
  close(fd);
  fd = tcp(SOCK_NONBLOCK);
  to4(fd, &silent4);
  say("pending", getpeername(fd, (struct sockaddr*)&room, &size));
  close(fd);
  fd = tcp(0);
  to4(fd, &good4);
  for (int own = 0; own < 2; ++own) {
    memset(&room, 0x5a, sizeof room);
    size = sizeof room.name;
    say(own ? "own" : "peer", own ? getsockname(fd, (struct sockaddr*)&room, &size)
                                  : getpeername(fd, (struct sockaddr*)&room, &size));
    int intact = 1;
    for (size_t i = 0; i < sizeof room.guard; ++i) intact &= room.guard[i] == 0x5a;
    printf("  size %d, guard intact %d, begins right %d\n", (int)size, intact,
           memcmp(room.name, wanted, own ? 2 : 4) == 0);
  }
  size = 0;
  say("no room", getsockname(fd, (struct sockaddr*)&room, &size));
  close(fd);
}

static void memory(void) {
  struct sockaddr_in* name =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *name = good4;
  mprotect(name, 4096, PROT_READ);
  for (int i = 0; i < 3; ++i) {
    const int fd = tcp(0);
    say("connect", to4(fd, name));
    printf("  unchanged %d\n", memcmp(name, &good4, sizeof *name) == 0);
    talk("talk", fd, fd);
    close(fd);
  }
  mprotect(name, 4096, PROT_NONE);
  const int fd = tcp(0);
  say("unreadable", to4(fd, name));
  munmap(name, 4096);
  say("unmapped", to4(fd, name));
  say("good", to4(fd, &good4));
  close(fd);
}

static void empty_option(void) {
  const int fd = tcp(0);
  say("empty device", setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "", 0));
  say("null", setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, NULL, 4));
  say("minus one", setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &(int){1}, (socklen_t)-1));
  say("connect minus one", connect(fd, (struct sockaddr*)&good4, (socklen_t)-1));
  say("connect", to4(fd, &good4));
  side("after all that", fd, "hop");
  close(fd);
}

static void ignore(int number) { (void)number; }

static void under_a_timer(void) {
  struct sigaction action = {.sa_handler = ignore};
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval every = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
  const int fd = tcp(0), before = count_open();
  int interrupted = 0;
  setitimer(ITIMER_REAL, &every, NULL);
  for (int i = 0; i < 20000; ++i) {
    const int copy = dup(fd);
    if (copy < 0 || close(copy) < 0) ++interrupted;
  }
  setitimer(ITIMER_REAL, &never, NULL);
  printf("  interrupted %d, leaked %d\n", interrupted, count_open() - before);
  close(fd);
}

static const struct play plays[] = {{"flags", flags},
                                    {"stray", stray},
                                    {"full-table", full_table},
                                    {"fionbio", fionbio},
                                    {"forked", forked},
                                    {"duplicated", duplicated},
                                    {"executed", executed},
                                    {"reused", reused},
                                    {"peer-name", peer_name},
                                    {"memory", memory},
                                    {"empty-option", empty_option},
                                    {"under-a-timer", under_a_timer},
                                    {NULL, NULL}};

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "count") == 0) return count_open();
  if (argc > 3 && strcmp(argv[1], "connect") == 0) {
    run_plays(&plays[sizeof plays / sizeof *plays - 1], argc, argv);
    after_exec(atoi(argv[2]));
    return 0;
  }
  return run_plays(plays, argc, argv);
}
