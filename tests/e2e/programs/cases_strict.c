// Policy strict: who waits hops, and nobody has a host socket before it is connected.
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/time.h>

#include "cases.h"

static void waiting(void) {
  int fd = tcp(0);
  say("connect", to4(fd, &good4));
  side("who waits", fd, "hop");
  say_own("name", fd, word("own4"));
  talk("talk", fd, fd);
  say("again", to4(fd, &good4));
  const struct sockaddr nothing = {.sa_family = AF_UNSPEC};
  say("dissolve", connect(fd, &nothing, sizeof nothing));
  side("dissolved", fd, "stay");
  say("anew", to4(fd, &good4));
  side("anew", fd, "hop");
  talk("talk", fd, fd);
  close(fd);
  fd = tcp(0);
  say("refused", to4(fd, &refused4));
  side("refused", fd, "stay");
  say("another", to4(fd, &good4));
  side("another", fd, "hop");
  talk("talk", fd, fd);
  close(fd);
  const int six = tcp6(0);
  say("v6", to6(six, &good6));
  side("v6", six, "hop");
  talk("talk", six, six);
  close(six);
}

static void not_waiting(void) {
  const int fd = tcp(SOCK_NONBLOCK);
  say("connect", to4(fd, &good4));
  side("who does not wait", fd, "stay");
  wait_out(fd);
  say_error(fd);
  talk("talk", fd, fd);
  close(fd);
}

// A dup and an epoll registration of before go over with the connection.
static void references(void) {
  const int fd = tcp(0), other = dup(fd);
  const int set = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.u64 = 7};
  epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
  say("connect", to4(fd, &good4));
  side("first number", fd, "hop");
  side("second number", other, "hop");
  say("send", send(other, "x", 1, MSG_NOSIGNAL));
  struct epoll_event got = {0};
  printf("  events %d", epoll_wait(set, &got, 1, kPatience));
  printf(" in %d of %d\n", (got.events & EPOLLIN) != 0, (int)got.data.u64);
  close(fd);
  close(other);
  close(set);
}

static int watched;
static void* look(void* unused) {
  usleep(kShort * 1000 / 4);
  side("on its way", watched, "stay");
  return unused;
}

static void on_the_way(void) {
  pthread_t thread;
  watched = tcp(0);
  const struct timeval limit = {.tv_usec = kShort * 1000};
  setsockopt(watched, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  pthread_create(&thread, NULL, look, NULL);
  say("connect", to4(watched, &silent4));
  pthread_join(thread, NULL);
  // The attempt goes on, inside.
  side("after the time", watched, "stay");
  say("again", to4(watched, &silent4));
  close(watched);
}

static volatile sig_atomic_t rings;
static void ring(int number) {
  (void)number;
  ++rings;
}

static void interrupted(void) {
  for (int restart = 0; restart < 2; ++restart) {
    struct sigaction action = {.sa_handler = ring, .sa_flags = restart ? SA_RESTART : 0};
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
    const int fd = tcp(0);
    rings = 0;
    setitimer(ITIMER_REAL, &often, NULL);
    // Only what is not restarted ends: a machine that is silent for ever would keep the other.
    if (restart) {
      say("restarted", to4(fd, &good4));
      side("restarted", fd, "hop");
      talk("talk", fd, fd);
    } else {
      say("interrupted", to4(fd, &silent4));
      printf("  by a signal %d\n", rings > 0);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    close(fd);
  }
}

static const struct play plays[] = {{"waiting", waiting},         {"not-waiting", not_waiting},
                                    {"references", references},   {"on-the-way", on_the_way},
                                    {"interrupted", interrupted}, {NULL, NULL}};

int main(int argc, char** argv) { return run_plays(plays, argc, argv); }
