// Random notified calls with random arguments, from three threads under a timer.
//
//   random_calls SEED COUNT MACHINE PORT
//
// Ends with "done" when COUNT calls came back; what they answered does not matter.
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "attack.h"

static long count;
static char* page;
static struct sockaddr_in outside;

static uint32_t next(uint32_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

static void ignore(int number) { (void)number; }

static unsigned long random_word(uint32_t* state) {
  static const unsigned long words[] = {0,   1,   2,      16,         28,        110,
                                        128, 129, 0xffff, 0x7fffffff, 1UL << 31, ~0UL};
  uint32_t pick = next(state) % 16;
  if (pick < 12) return words[pick];
  return next(state) | (unsigned long)next(state) << (sizeof(long) * 4);
}

static unsigned long random_place(uint32_t* state) {
  switch (next(state) % 8) {
    case 0:
      return 0;
    case 1:
      return ~0UL - next(state) % 8192;
    case 2:
      return (unsigned long)page + 4096 - next(state) % 20;
    case 3:
      return 1UL << (sizeof(long) * 8 - 1);
    default:
      return (unsigned long)page + next(state) % 4000;
  }
}

static int random_fd(uint32_t* state) {
  uint32_t pick = next(state) % 32;
  if (pick == 0) return (int)next(state);
  if (pick == 1) return -1;
  return 20 + (int)(next(state) % 40);
}

static void make_one(uint32_t* state) {
  static const int families[] = {AF_INET, AF_INET, AF_INET, AF_INET6, AF_UNIX, AF_NETLINK};
  int family = families[next(state) % 6];
  int type = next(state) % 4 == 0 ? SOCK_DGRAM : SOCK_STREAM;
  int fd = next(state) % 8 == 0 ? epoll_create1(0)
                                : socket(family, type | (next(state) % 2 ? SOCK_NONBLOCK : 0), 0);
  if (fd < 0) return;
  int place = 20 + (int)(next(state) % 40);
  if (next(state) % 3 == 0) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT};
    epoll_ctl(20 + (int)(next(state) % 40), EPOLL_CTL_ADD, fd, &event);
  }
  dup2(fd, place);
  if (next(state) % 4 != 0) close(fd);
  if (fd > 200) close_range(100, ~0U, 0);
}

static void write_address(uint32_t* state) {
  struct sockaddr_in name = outside;
  if (next(state) % 4 == 0) name.sin_addr.s_addr = next(state);
  if (next(state) % 4 == 0) name.sin_port = (uint16_t)next(state);
  if (next(state) % 8 == 0) name.sin_family = (uint16_t)(next(state) % 48);
  memcpy(page, &name, sizeof name);
}

static void call_one(uint32_t* state) {
  static const long numbers[] = {SYS_connect,    SYS_connect, SYS_connect,     SYS_bind,
                                 SYS_listen,     SYS_accept4, SYS_getsockname, SYS_epoll_create1,
                                 SYS_sendto,     SYS_sendmsg, SYS_ioctl,       SYS_getsockopt,
                                 SYS_setsockopt, SYS_shutdown};
  write_address(state);
  const long number = numbers[next(state) % (sizeof numbers / sizeof *numbers)];
  unsigned long args[6] = {(unsigned long)random_fd(state),
                           random_place(state),
                           random_word(state),
                           random_word(state),
                           random_place(state),
                           random_word(state)};
  if (number == SYS_connect && next(state) % 2) args[1] = (unsigned long)page, args[2] = 16;
  if (number == SYS_sendto || number == SYS_sendmsg)
    args[number == SYS_sendto ? 3 : 2] |= MSG_FASTOPEN;
  if (number == SYS_listen || number == SYS_epoll_create1) args[1] = random_word(state);
  if (number == SYS_accept4 || number == SYS_getsockname) args[2] = random_place(state);
  if (number == SYS_ioctl) args[1] = 0x8900 | next(state) % 256, args[2] = random_place(state);
  if (number == SYS_getsockopt)
    args[1] = SOL_SOCKET, args[2] = next(state) % 2 ? 25 : 62, args[3] = random_place(state);
  if (number == SYS_setsockopt)
    args[1] = SOL_SOCKET, args[2] = next(state) % 70, args[3] = random_place(state);
  syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

static void* work(void* seed) {
  uint32_t state = (uint32_t)(uintptr_t)seed;
  while (__sync_sub_and_fetch(&count, 1) > 0) {
    if (next(&state) % 3 == 0) make_one(&state);
    call_one(&state);
  }
  return NULL;
}

int main(int argc, char** argv) {
  usage_unless(argc == 5, "random_calls SEED COUNT MACHINE PORT");
  uint32_t seed = (uint32_t)strtoul(argv[1], NULL, 10);
  count = atol(argv[2]);
  outside = v4(argv[3], atoi(argv[4]));
  page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(page + 4096, 4096);
  struct sigaction action = {.sa_handler = ignore};
  sigaction(SIGALRM, &action, NULL);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGIO, SIG_IGN);
  pthread_t threads[3];
  for (unsigned i = 0; i < 3; ++i) {
    pthread_create(&threads[i], NULL, work, (void*)(uintptr_t)(seed * 3 + i + 1));
  }
  // What would block is interrupted.
  for (double end = now() + 100; now() < end && count > 0;) {
    usleep(2000);
    for (unsigned i = 0; i < 3; ++i) pthread_kill(threads[i], SIGALRM);
  }
  const long left = count;
  if (left <= 0) printf("done\n");
  fflush(stdout);
  _exit(left > 0);
}
