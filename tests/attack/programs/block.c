// Calls that make whoever looks at the caller wait.
//
//   block page FILE | toggle PORT | close MACHINE PORT
//
//   page      connects with an address in a page of FILE (on a file system that never answers)
//   toggle    switches O_NONBLOCK of a published listener under its own accepts
//   close     begins connects that the caller closes, is interrupted in, or dies in; "closed"
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "attack.h"

static int block_page(const char* file) {
  int fd = open(file, O_RDONLY);
  if (fd < 0) return 1;
  void* page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
  if (page == MAP_FAILED) return 1;
  printf("begun\n");
  fflush(stdout);
  do_connect(tcp_socket(AF_INET), page, 16);
  return 0;
}

static int listener;

static void* toggle(void* unused) {
  for (int on = 0;; on = !on) ioctl(listener, FIONBIO, &on);
  return unused;
}

static void* accept_all(void* unused) {
  for (;;) {
    int fd = accept(listener, NULL, NULL);
    if (fd >= 0) close(fd);
  }
  return unused;
}

static int toggle_listener(int port) {
  struct sockaddr_in own = v4("0.0.0.0", port);
  pthread_t thread;
  listener = tcp_socket(AF_INET);
  if (do_bind(listener, &own, sizeof own) < 0 || do_listen(listener, 64) < 0) return 1;
  pthread_create(&thread, NULL, toggle, NULL);
  for (int i = 0; i < 2; ++i) pthread_create(&thread, NULL, accept_all, NULL);
  printf("begun\n");
  fflush(stdout);
  for (;;) pause();
}

static void ignore(int number) { (void)number; }

static int begin_and_close(const char* machine, int port) {
  int fd = tcp_socket(AF_INET);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  connect4(fd, machine, port);
  int other = dup(fd);
  close(fd);
  close(other);
  struct sigaction action = {.sa_handler = ignore};
  sigaction(SIGALRM, &action, NULL);
  fd = tcp_socket(AF_INET);
  struct itimerval soon = {{0, 0}, {0, 50000}};
  setitimer(ITIMER_REAL, &soon, NULL);
  int interrupted = connect4(fd, machine, port) < 0 && errno == EINTR;
  close(fd);
  pid_t child = fork();
  if (child == 0) {
    connect4(tcp_socket(AF_INET), machine, port);
    _exit(0);
  }
  usleep(50000);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  printf("closed interrupted %d\n", interrupted);
  return 0;
}

int main(int argc, char** argv) {
  usage_unless(argc >= 3, "block page FILE | toggle PORT | close MACHINE PORT");
  if (strcmp(argv[1], "page") == 0) return block_page(argv[2]);
  if (strcmp(argv[1], "toggle") == 0) return toggle_listener(atoi(argv[2]));
  if (argc < 4 || strcmp(argv[1], "close") != 0) return 2;
  return begin_and_close(argv[2], atoi(argv[3]));
}
