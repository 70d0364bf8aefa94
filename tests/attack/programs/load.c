// Many callers at once.
//
//   load threads|children|hold|latency COUNT MACHINE PORT
//
//   threads   COUNT short threads, 50 at a time, each doing one connect
//   children  COUNT children, each killed in the middle of its connects
//   hold      COUNT threads that block in connect; "holding" when all have begun, for ever
//   latency   COUNT connects one after the other; the median in microseconds
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "attack.h"

static struct sockaddr_in target;
static int failed;

static int connect_once(void) {
  struct linger reset = {1, 0};
  int fd = tcp_socket(AF_INET);
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  int result = do_connect(fd, &target, sizeof target);
  close(fd);
  return result;
}

static void* one(void* unused) {
  if (connect_once() < 0) __sync_add_and_fetch(&failed, 1);
  return unused;
}

static pthread_t begin(void* (*work)(void*)) {
  pthread_attr_t small;
  pthread_t thread;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  if (pthread_create(&thread, &small, work, NULL) != 0) exit(3);
  return thread;
}

static void threads(int count) {
  pthread_t running[50];
  for (int done = 0; done < count; done += 50) {
    for (int i = 0; i < 50; ++i) running[i] = begin(one);
    for (int i = 0; i < 50; ++i) pthread_join(running[i], NULL);
  }
  printf("failed %d\n", failed);
}

static void children(int count) {
  for (int i = 0; i < count; ++i) {
    pid_t child = fork();
    if (child == 0) {
      for (;;) connect_once();
    }
    // From the first instructions to deep in a connect.
    for (double end = now() + (i % 40) * 50e-6; now() < end;) {
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
  }
  printf("killed %d\n", count);
}

static void hold(int count) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  for (int i = 0; i < count; ++i) begin(one);
  printf("holding\n");
  fflush(stdout);
  for (;;) pause();
}

static int compare(const void* a, const void* b) {
  return (*(const double*)a > *(const double*)b) - (*(const double*)a < *(const double*)b);
}

static void latency(int count) {
  double* all = calloc((size_t)count, sizeof *all);
  for (int i = 0; i < count; ++i) {
    double start = now();
    if (connect_once() < 0) ++failed;
    all[i] = now() - start;
  }
  qsort(all, (size_t)count, sizeof *all, compare);
  printf("failed %d median %.1f\n", failed, all[count / 2] * 1e6);
}

int main(int argc, char** argv) {
  usage_unless(argc == 5, "load threads|children|hold|latency COUNT MACHINE PORT");
  const int count = atoi(argv[2]);
  target = v4(argv[3], atoi(argv[4]));
  if (strcmp(argv[1], "threads") == 0) threads(count);
  if (strcmp(argv[1], "children") == 0) children(count);
  if (strcmp(argv[1], "hold") == 0) hold(count);
  if (strcmp(argv[1], "latency") == 0) latency(count);
  return 0;
}
