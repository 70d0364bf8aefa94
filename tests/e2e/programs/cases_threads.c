// Other threads wait on a socket, or take its number away, while it connects.
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "cases.h"

struct waiter {
  int fd, set, events;
  pthread_t thread;
};

static void* wait_in_epoll(void* given) {
  struct waiter* waiter = given;
  struct epoll_event event = {0};
  const int count = epoll_wait(waiter->set, &event, 1, kPatience);
  waiter->events = count == 1 ? (int)event.events : -count;
  return NULL;
}

static void* wait_in_poll(void* given) {
  struct waiter* waiter = given;
  struct pollfd one = {waiter->fd, POLLOUT, 0};
  poll(&one, 1, kPatience);
  waiter->events = one.revents;
  return NULL;
}

static void* wait_in_select(void* given) {
  struct waiter* waiter = given;
  fd_set out;
  FD_ZERO(&out);
  FD_SET(waiter->fd, &out);
  waiter->events = select(waiter->fd + 1, NULL, &out, NULL, &(struct timeval){10, 0});
  return NULL;
}

static void* wait_in_recv(void* given) {
  struct waiter* waiter = given;
  char heard[4];
  waiter->events = (int)recv(waiter->fd, heard, sizeof heard, MSG_WAITALL);
  return NULL;
}

// The thread sleeps in the kernel already when the socket connects: it has used up what an
// unconnected socket shows (HUP) and waits for the next edge.
static void in_epoll(void) {
  struct waiter waiter = {.fd = tcp(0), .set = epoll_create1(0)};
  struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data = {.u64 = 7}};
  epoll_ctl(waiter.set, EPOLL_CTL_ADD, waiter.fd, &event);
  epoll_wait(waiter.set, &event, 1, 0);
  pthread_create(&waiter.thread, NULL, wait_in_epoll, &waiter);
  usleep(20000);
  say("connect", to4(waiter.fd, &good4));
  pthread_join(waiter.thread, NULL);
  printf("  woken by OUT %d\n", waiter.events > 0 && (waiter.events & EPOLLOUT) != 0);
  side("a thread in epoll_wait", waiter.fd, "hop");
  talk("talk", waiter.fd, waiter.fd);
  close(waiter.fd), close(waiter.set);
}

// Begun between connect() and its end, as programs do it.
static void in_progress(const char* what, void* (*wait)(void*), const struct sockaddr_in* name) {
  struct waiter waiter = {.fd = tcp(SOCK_NONBLOCK)};
  to4(waiter.fd, name);
  pthread_create(&waiter.thread, NULL, wait, &waiter);
  pthread_join(waiter.thread, NULL);
  printf("  %s: %s\n", what, waiter.events > 0 ? "woken" : "not woken");
  say_error(waiter.fd);
  close(waiter.fd);
}

static void waiting(void) {
  in_progress("poll", wait_in_poll, &good4);
  in_progress("poll, refused", wait_in_poll, &refused4);
  in_progress("select", wait_in_select, &good4);
  in_progress("select, refused", wait_in_select, &refused4);
  struct waiter waiter = {.fd = tcp(0)};
  say("connect", to4(waiter.fd, &good4));
  pthread_create(&waiter.thread, NULL, wait_in_recv, &waiter);
  say("send", send(waiter.fd, "four", 4, 0));
  pthread_join(waiter.thread, NULL);
  printf("  recv %d\n", waiter.events);
  close(waiter.fd);
}

static void* connect_to_nobody(void* given) {
  struct waiter* waiter = given;
  set_int(waiter->fd, IPPROTO_TCP, TCP_SYNCNT, 1);
  const struct timeval soon = {0, 100000};
  setsockopt(waiter->fd, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon);
  to4(waiter->fd, &silent4);
  return NULL;
}

static int state_of(int fd) {
  struct tcp_info info = {0};
  socklen_t size = sizeof info;
  return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_state : 0;
}

// In the middle of the call, not in the few microseconds of the exchange that README names.
static void number_taken(void) {
  const int file = memfd_create("survivor", 0);
  if (write(file, "still here", 10) != 10) return;
  int survived = 0, in_time = 0;
  for (int i = 0; i < 20; ++i) {
    struct waiter waiter = {.fd = tcp(0)};
    pthread_create(&waiter.thread, NULL, connect_to_nobody, &waiter);
    for (int tries = 0; tries < 20000 && state_of(waiter.fd) != TCP_SYN_SENT; ++tries) usleep(50);
    in_time += state_of(waiter.fd) == TCP_SYN_SENT;
    if (i % 2) {
      dup2(file, waiter.fd);
    } else {
      close(waiter.fd);
      const int next = open("/proc/self/fd/0", O_RDONLY);
      if (next != waiter.fd) dup2(next, waiter.fd), close(next);
      dup2(file, waiter.fd);
    }
    pthread_join(waiter.thread, NULL);
    char text[16] = "";
    struct stat facts = {0};
    survived += fstat(waiter.fd, &facts) == 0 && S_ISREG(facts.st_mode) &&
                pread(waiter.fd, text, 10, 0) == 10 && memcmp(text, "still here", 10) == 0;
    close(waiter.fd);
  }
  printf("  in time %d, survived %d\n", in_time, survived);
  close(file);
}

static void* shut(void* given) {
  struct waiter* waiter = given;
  while (state_of(waiter->fd) != TCP_SYN_SENT) usleep(50);
  shutdown(waiter->fd, SHUT_RDWR);
  return NULL;
}

// Another thread ends the attempt: the blocked caller comes back.
static void ended(void) {
  struct waiter waiter = {.fd = tcp(0)};
  const struct timeval late = {8, 0};
  setsockopt(waiter.fd, SOL_SOCKET, SO_SNDTIMEO, &late, sizeof late);
  pthread_create(&waiter.thread, NULL, shut, &waiter);
  const int result = to4(waiter.fd, &silent4);
  say("connect that another thread ended", result);
  pthread_join(waiter.thread, NULL);
  say("connect", to4(waiter.fd, &good4));
  close(waiter.fd);
}

static const struct play plays[] = {{"in-epoll", in_epoll},
                                    {"waiting", waiting},
                                    {"number-taken", number_taken},
                                    {"ended", ended},
                                    {NULL, NULL}};

int main(int argc, char** argv) { return run_plays(plays, argc, argv); }
