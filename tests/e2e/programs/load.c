// Clients and servers that notice every connection that is lost, made twice or not answered.
//
//   load client ADDRESS PORT COUNT blocking|epoll|poll [timer restart|norestart]
//   load server PORT blocking|epoll [timer restart|norestart]
//
// Each connection says a number of its own and hears it again. A client writes one byte to stdout
// per connection that was answered, and at the end a line of JSON to stderr: what the connects gave
// and how long the slowest took. A server writes its counts to stdout when SIGTERM comes. `timer`:
// under a signal every 200 us, with or without SA_RESTART.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { kThreads = 4, kPatience = 20000, kMaxTokens = 1 << 16, kErrors = 256 };

static struct sockaddr_storage peer;
static socklen_t peer_size;
static int count;
static const char* kind;
static int next_token;
static int64_t slowest_us;
static int results[kErrors];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void fail(const char* what, int token, int error) {
  fprintf(stderr, "%s of connection %d: %s\n", what, token, strerror(error));
  exit(1);
}

static int64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static void on_alarm(int number) { (void)number; }

static void start_timer(const char* mode) {
  struct sigaction action = {.sa_handler = on_alarm};
  if (strcmp(mode, "restart") == 0) action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  struct itimerval every = {.it_interval = {0, 200}, .it_value = {0, 200}};
  setitimer(ITIMER_REAL, &every, NULL);
}

/// A signal does not end a wait.
static void wait_with_poll(int fd, short events, int token) {
  struct pollfd one = {fd, events, 0};
  const int64_t end = now_us() + kPatience * 1000LL;
  int got;
  do got = poll(&one, 1, kPatience);
  while (got < 0 && errno == EINTR && now_us() < end);
  if (got != 1) fail("wait", token, got == 0 ? ETIMEDOUT : errno);
}

static void wait_with_epoll(int set, int token) {
  struct epoll_event event;
  const int64_t end = now_us() + kPatience * 1000LL;
  int got;
  do got = epoll_wait(set, &event, 1, kPatience);
  while (got < 0 && errno == EINTR && now_us() < end);
  if (got != 1) fail("epoll wait", token, got == 0 ? ETIMEDOUT : errno);
  if (event.data.u32 != (uint32_t)token) fail("data of epoll", token, EPROTO);
}

static void note(int error, int64_t took) {
  pthread_mutex_lock(&lock);
  ++results[error & (kErrors - 1)];
  if (took > slowest_us) slowest_us = took;
  pthread_mutex_unlock(&lock);
}

static void complete(int fd, int set, int token) {
  if (set >= 0)
    wait_with_epoll(set, token);
  else
    wait_with_poll(fd, POLLOUT, token);
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) fail("connection", token, error);
}

static void talk(int fd, int token) {
  uint32_t said = (uint32_t)token, heard = 0;
  if (send(fd, &said, sizeof said, MSG_NOSIGNAL) != sizeof said) fail("send", token, errno);
  size_t have = 0;
  while (have < sizeof heard) {
    wait_with_poll(fd, POLLIN, token);
    ssize_t got = recv(fd, (char*)&heard + have, sizeof heard - have, 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) fail("answer", token, got < 0 ? errno : ECONNRESET);
    have += (size_t)got;
  }
  if (heard != said) fail("answer", token, EPROTO);
}

/// -1 when a signal came before anybody looked at the call: nothing was begun then.
static int connected(int fd, int set, int token) {
  const int blocking = strcmp(kind, "blocking") == 0;
  int64_t begin = now_us();
  int error = connect(fd, (struct sockaddr*)&peer, peer_size) == 0 ? 0 : errno;
  note(error, now_us() - begin);
  if (error == 0) return 0;
  // Interrupted it goes on by itself (connect(2)).
  if (error != EINTR && (error != EINPROGRESS || blocking)) fail("connect", token, error);
  complete(fd, set, token);
  struct sockaddr_storage name;
  socklen_t size = sizeof name;
  if (getpeername(fd, (struct sockaddr*)&name, &size) == 0) return 0;
  note(ENOTCONN, 0);
  return -1;
}

static int watching_set(int fd, int token) {
  int set;
  // A call that is notified can be interrupted although the kernel's own does not wait.
  do set = epoll_create1(0);
  while (set < 0 && errno == EINTR);
  struct epoll_event event = {.events = EPOLLOUT | EPOLLET, .data = {.u32 = (uint32_t)token}};
  epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
  return set;
}

static void one_connection(int token) {
  const int flags = strcmp(kind, "blocking") == 0 ? 0 : SOCK_NONBLOCK;
  for (int done = -1; done < 0;) {
    int fd = socket(peer.ss_family, SOCK_STREAM | flags, 0);
    int set = strcmp(kind, "epoll") == 0 ? watching_set(fd, token) : -1;
    done = connected(fd, set, token);
    if (done == 0) talk(fd, token);
    // The port is free at once: thousands of them would run out otherwise.
    struct linger none = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    close(fd);
    if (set >= 0) close(set);
  }
}

static void* connect_all(void* unused) {
  (void)unused;
  for (;;) {
    int token = __atomic_fetch_add(&next_token, 1, __ATOMIC_RELAXED);
    if (token >= count) return NULL;
    one_connection(token);
    while (write(1, ".", 1) < 0 && errno == EINTR) {
    }
  }
}

static void print_results(void) {
  fprintf(stderr, "{\"slowest_us\": %lld", (long long)slowest_us);
  for (int i = 0; i < kErrors; ++i) {
    if (results[i] > 0) fprintf(stderr, ", \"%s\": %d", i ? strerrorname_np(i) : "ok", results[i]);
  }
  fprintf(stderr, "}\n");
}

static int be_client(char** argv) {
  const int port = atoi(argv[3]);
  struct sockaddr_in* v4 = (struct sockaddr_in*)&peer;
  struct sockaddr_in6* v6 = (struct sockaddr_in6*)&peer;
  if (inet_pton(AF_INET, argv[2], &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons((uint16_t)port);
    peer_size = sizeof *v4;
  } else {
    inet_pton(AF_INET6, argv[2], &v6->sin6_addr);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons((uint16_t)port);
    peer_size = sizeof *v6;
  }
  count = atoi(argv[4]);
  kind = argv[5];
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, connect_all, NULL);
  // The signals are for those who connect.
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarms, NULL);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  print_results();
  return 0;
}

static unsigned char seen[kMaxTokens];
static int connections, tokens, twice, silent, interrupted, failed;

static void on_term(int number) {
  (void)number;
  char text[200];
  int size = snprintf(text, sizeof text,
                      "{\"connections\": %d, \"tokens\": %d, \"twice\": %d, \"silent\": %d, "
                      "\"interrupted\": %d, \"failed\": %d}\n",
                      connections, tokens, twice, silent, interrupted, failed);
  if (write(1, text, (size_t)size) < 0) _exit(1);
  _exit(0);
}

static void answer(int fd) {
  uint32_t token = 0;
  size_t have = 0;
  struct pollfd one = {fd, POLLIN, 0};
  while (have < sizeof token) {
    int ready = poll(&one, 1, kPatience);
    if (ready < 0 && errno == EINTR) continue;
    if (ready != 1) break;
    ssize_t got = recv(fd, (char*)&token + have, sizeof token - have, 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) break;
    have += (size_t)got;
  }
  ++connections;
  if (have < sizeof token || token >= kMaxTokens) {
    ++silent;
  } else {
    ++tokens;
    if (seen[token]++ != 0) ++twice;
    if (send(fd, &token, sizeof token, MSG_NOSIGNAL) < 0) ++failed;
    // The client resets the connection.
    while (poll(&one, 1, kPatience) < 0 && errno == EINTR) {
    }
  }
  close(fd);
}

static int be_server(char** argv) {
  const int on = 1, off = 0, with_epoll = strcmp(argv[3], "epoll") == 0;
  int fd = socket(AF_INET6, SOCK_STREAM | (with_epoll ? SOCK_NONBLOCK : 0), 0);
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)atoi(argv[2]))};
  int listening;
  do listening = bind(fd, (struct sockaddr*)&any, sizeof any);
  while (listening < 0 && errno == EINTR);
  while (listening == 0 && (listening = listen(fd, 128)) < 0 && errno == EINTR) listening = 0;
  if (listening < 0) {
    perror("listen");
    return 1;
  }
  signal(SIGTERM, on_term);
  int set = with_epoll ? epoll_create1(0) : -1;
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
  for (;;) {
    if (with_epoll && epoll_wait(set, &event, 1, -1) < 0) continue;
    int one = accept(fd, NULL, NULL);
    if (one >= 0) {
      answer(one);
    } else if (errno == EINTR) {
      ++interrupted;
    } else if (errno != EAGAIN) {
      ++failed;
    }
  }
}

int main(int argc, char** argv) {
  if (argc > 2 && strcmp(argv[argc - 2], "timer") == 0) start_timer(argv[argc - 1]);
  if (argc >= 6 && strcmp(argv[1], "client") == 0) return be_client(argv);
  if (argc >= 4 && strcmp(argv[1], "server") == 0) return be_server(argv);
  fprintf(stderr, "load client ADDRESS PORT COUNT KIND | load server PORT KIND\n");
  return 2;
}
