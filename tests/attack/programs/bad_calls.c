// Each notified call with each kind of descriptor and each kind of bad argument; one line per call:
// NAME RESULT ERRNO. What it prints must not depend on who answers.
//
//   bad_calls MACHINE PORT CLOSED_PORT [FUSE_FILE]
#include <limits.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "attack.h"

struct kind {
  const char* name;
  int fd;
};

static struct kind kinds[32];
static int kind_count;
static char* page;      // usable
static char* edge;      // its last two bytes; what follows is not mapped
static const char* ro;  // may be read only

static void add(const char* name, int fd) {
  kinds[kind_count].name = name;
  kinds[kind_count++].fd = fd;
}

static void make_kinds(const char* machine, int port, int closed_port, const char* fuse) {
  int ends[2], pair[2];
  if (pipe(ends) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0) exit(1);
  int connected = tcp_socket(AF_INET), refused = tcp_socket(AF_INET);
  int listening = tcp_socket(AF_INET);
  connect4(connected, machine, port);
  connect4(refused, machine, closed_port);
  fcntl(listening, F_SETFL, O_NONBLOCK);
  do_listen(listening, 4);
  add("closed", 900);
  add("minus one", -1);
  add("minimum", INT_MIN);
  add("maximum", INT_MAX);
  add("file", open("/proc/self/exe", O_RDONLY));
  add("path only", open("/", O_PATH));
  add("directory", open("/", O_RDONLY));
  add("pipe", ends[0]);
  add("epoll", epoll_create1(0));
  add("eventfd", eventfd(0, 0));
  add("pidfd", (int)syscall(SYS_pidfd_open, getpid(), 0));
  add("unix pair", pair[0]);
  add("unix", socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
  add("netlink", socket(AF_NETLINK, SOCK_RAW, 0));
  add("udp", socket(AF_INET, SOCK_DGRAM, 0));
  add("icmp", socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
  add("tcp", tcp_socket(AF_INET));
  add("tcp6", tcp_socket(AF_INET6));
  add("listening", listening);
  add("connected", connected);
  add("refused", refused);
  if (fuse) add("fuse", open(fuse, O_RDONLY));
}

static void tell(const char* kind, const char* call, const char* what, long result) {
  int error = result < 0 ? errno : 0;
  // A new descriptor's number is nobody's business.
  printf("%s: %s %s %d %d\n", kind, call, what, result < 0 ? -1 : 0, error);
}

struct name {
  const char* text;
  const void* at;
  unsigned long length;
};

static void with_names(const struct kind* kind) {
  struct sockaddr_in* bad = (struct sockaddr_in*)page;
  *bad = (struct sockaddr_in){.sin_family = 250};
  const struct name names[] = {
      {"null", NULL, 16},
      {"null of 0", NULL, 0},
      {"kernel", (const void*)(~0UL - 4095), 16},
      {"odd", (const void*)(1UL << (sizeof(long) * 8 - 1)), 16},
      {"low", (const void*)8, 16},
      {"edge", edge, 16},
      {"edge of 2", edge, 2},
      {"length -1", page, (unsigned long)-1},
      {"length 2^31-1", page, INT_MAX},
      {"length 2^31", page, 1UL << 31},
      {"length 2^63", page, 1UL << (sizeof(long) * 8 - 1)},
      {"length 129", page, 129},
      {"length 128", page, 128},
      {"length 16", page, 16},
      {"length 1", page, 1},
      {"length 0", page, 0},
  };
  for (unsigned i = 0; i < sizeof names / sizeof *names; ++i) {
    const struct name* n = &names[i];
    tell(kind->name, "connect", n->text, syscall(SYS_connect, kind->fd, n->at, n->length));
    tell(kind->name, "bind", n->text, syscall(SYS_bind, kind->fd, n->at, n->length));
    tell(kind->name, "fastopen", n->text,
         syscall(SYS_sendto, kind->fd, page, 1, MSG_FASTOPEN | MSG_NOSIGNAL | MSG_DONTWAIT, n->at,
                 n->length));
  }
}

static void with_places(const struct kind* kind) {
  void* const places[] = {NULL, (void*)(~0UL - 4095), (void*)8, edge, (void*)ro, page + 64};
  static const char* words[] = {"null", "kernel", "low", "edge", "read only", "good"};
  static const int lengths[] = {-1, 0, 3, 16, INT_MAX};
  char what[64];
  for (unsigned p = 0; p < 6; ++p) {
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
      int* length = (int*)(page + 512);
      *length = lengths[i];
      snprintf(what, sizeof what, "%s of %d", words[p], lengths[i]);
      tell(kind->name, "getsockname", what, syscall(SYS_getsockname, kind->fd, places[p], length));
      *length = lengths[i];
      tell(kind->name, "device", what,
           syscall(SYS_getsockopt, kind->fd, SOL_SOCKET, SO_BINDTODEVICE, places[p], length));
    }
    snprintf(what, sizeof what, "length at %s", words[p]);
    memcpy(page + 64, &(int){16}, sizeof(int));
    tell(kind->name, "getsockname", what,
         syscall(SYS_getsockname, kind->fd, page + 256, places[p]));
    tell(kind->name, "ioctl", words[p], ioctl(kind->fd, 0x8912, places[p]));
    tell(kind->name, "siocinq", words[p], ioctl(kind->fd, 0x8904, places[p]));
  }
}

static void with_numbers(const struct kind* kind) {
  tell(kind->name, "setsockopt", "empty device",
       setsockopt(kind->fd, SOL_SOCKET, SO_BINDTODEVICE, page, 0));
  tell(kind->name, "accept", "nowhere", syscall(SYS_accept4, kind->fd, NULL, NULL, SOCK_NONBLOCK));
  tell(kind->name, "accept", "bad flags", syscall(SYS_accept4, kind->fd, NULL, NULL, 0xffff));
  tell(kind->name, "sendmsg", "null", syscall(SYS_sendmsg, kind->fd, NULL, MSG_FASTOPEN));
  tell(kind->name, "sendmmsg", "null", syscall(SYS_sendmmsg, kind->fd, NULL, 3, MSG_FASTOPEN));
  tell(kind->name, "ioctl", "unknown", ioctl(kind->fd, 0x89ff, page));
  tell(kind->name, "landlock", "bad", syscall(446, kind->fd, 77));
}

int main(int argc, char** argv) {
  usage_unless(argc >= 4, "bad_calls MACHINE PORT CLOSED_PORT [FUSE_FILE]");
  page = mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ro = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(page + 4096, 4096);
  edge = page + 4094;
  make_kinds(argv[1], atoi(argv[2]), atoi(argv[3]), argc > 4 ? argv[4] : NULL);
  printf("%d %d 0\n", epoll_create(-1), epoll_create1(~0));
  for (int i = 0; i < kind_count; ++i) {
    with_numbers(&kinds[i]);
    with_places(&kinds[i]);
    with_names(&kinds[i]);
  }
  return 0;
}
