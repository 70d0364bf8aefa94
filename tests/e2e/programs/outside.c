/* Moves a suite's TCP servers to another machine, without a change to the suite.
 *
 * Preloaded into every program of a container. bind() of a TCP socket to a loopback address or to a
 * port of the any-address, and listen() on one that is bound to any port of it, give the descriptor
 * a socket of the other machine's network namespace, which outside.py makes there and passes over a
 * unix socket; connect() to a loopback address goes to that machine. So a suite that talks to
 * itself over loopback has its clients inside and its servers outside. Names are turned back: the
 * suite sees loopback addresses. UDP is left alone.
 *
 * /etc/outside: path of the unix socket, then one line each for IPv4 and IPv6, in hexadecimal: the
 * machine's address, and those of this host and of the container, by which clients may show up.
 * Then perhaps the word "late": bind() to any port of the any-address waits for the first call that
 * shows or needs the port, for a suite that does so before each connect().
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { DESCRIPTORS = 4096, SHOWN = 3, BUF_LOCK = 72, NETNS_COOKIE = 71 };

typedef union {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
  struct sockaddr_storage room;
} Name;

static char factory[108];
static struct in_addr shown4[SHOWN];
static struct in6_addr shown6[SHOWN];
static unsigned long long own_cookie;
static int late;
static char bound_later[DESCRIPTORS];  // the family, by descriptor
static pthread_once_t once = PTHREAD_ONCE_INIT;

static unsigned long long cookie_of(int fd) {
  unsigned long long cookie = 0;
  socklen_t length = sizeof cookie;
  getsockopt(fd, SOL_SOCKET, NETNS_COOKIE, &cookie, &length);
  return cookie;
}

static void read_address(FILE* file, unsigned char* to, int size) {
  if (fscanf(file, " ") < 0) return;
  for (int i = 0; i < size; i++) {
    if (fscanf(file, "%2hhx", &to[i]) != 1) return;
  }
}

static void read_configuration(void) {
  FILE* file = fopen("/etc/outside", "re");
  if (!file) return;
  if (fscanf(file, "%107s", factory) != 1) factory[0] = 0;
  for (int i = 0; i < SHOWN; i++) read_address(file, (unsigned char*)&shown4[i], sizeof *shown4);
  for (int i = 0; i < SHOWN; i++) read_address(file, (unsigned char*)&shown6[i], sizeof *shown6);
  char word[5] = "";
  late = fscanf(file, "%4s", word) == 1 && strcmp(word, "late") == 0;
  fclose(file);
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  own_cookie = cookie_of(probe);
  close(probe);
}

static int option(int fd, int level, int name) {
  int value = 0;
  socklen_t length = sizeof value;
  return getsockopt(fd, level, name, &value, &length) == 0 ? value : 0;
}

static int is_tcp(int fd) {
  const int kept = errno;
  const int family = option(fd, SOL_SOCKET, SO_DOMAIN);
  const int tcp = (family == AF_INET || family == AF_INET6) &&
                  option(fd, SOL_SOCKET, SO_TYPE) == SOCK_STREAM &&
                  option(fd, SOL_SOCKET, SO_PROTOCOL) == IPPROTO_TCP;
  errno = kept;
  pthread_once(&once, read_configuration);
  return tcp && factory[0];
}

static int is_loopback4(const void* address) { return *(const unsigned char*)address == 127; }

/* The machine's address in the place of a loopback one, or of the any-address where `any` is true;
 * 0 when the name is neither. */
static int to_machine(Name* name, int any) {
  if (name->any.sa_family == AF_INET) {
    if (!is_loopback4(&name->v4.sin_addr) && !(any && name->v4.sin_addr.s_addr == 0)) return 0;
    name->v4.sin_addr = shown4[0];
    return 1;
  }
  if (name->any.sa_family != AF_INET6) return 0;
  struct in6_addr* address = &name->v6.sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(address) && is_loopback4(&address->s6_addr[12])) {
    memcpy(&address->s6_addr[12], &shown4[0], 4);
    return 1;
  }
  if (!IN6_IS_ADDR_LOOPBACK(address) && !(any && IN6_IS_ADDR_UNSPECIFIED(address))) return 0;
  *address = shown6[0];
  return 1;
}

static int is_any(const Name* name) {
  if (name->any.sa_family == AF_INET) return name->v4.sin_addr.s_addr == 0;
  return name->any.sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&name->v6.sin6_addr);
}

static void to_loopback(Name* name) {
  unsigned char* mapped = &name->v6.sin6_addr.s6_addr[12];
  for (int i = 0; i < SHOWN; i++) {
    if (name->any.sa_family == AF_INET) {
      if (name->v4.sin_addr.s_addr == shown4[i].s_addr)
        name->v4.sin_addr.s_addr = htonl(0x7f000001);
    } else if (name->any.sa_family == AF_INET6) {
      if (IN6_IS_ADDR_V4MAPPED(&name->v6.sin6_addr) && memcmp(mapped, &shown4[i], 4) == 0) {
        memcpy(mapped, "\x7f\0\0\1", 4);
      } else if (IN6_ARE_ADDR_EQUAL(&name->v6.sin6_addr, &shown6[i])) {
        name->v6.sin6_addr = in6addr_loopback;
      }
    }
  }
}

/* A TCP socket of the other machine. */
static int socket_there(int family) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  union {
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control = {{0}};
  char byte = family == AF_INET ? '4' : '6';
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.room,
                           .msg_controllen = sizeof control.room};
  memcpy(name.sun_path, factory, sizeof name.sun_path);
  int passed = -1;
  const int channel = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (channel < 0) return -1;
  if (syscall(SYS_connect, channel, &name, sizeof name) == 0 && send(channel, &byte, 1, 0) == 1 &&
      recvmsg(channel, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message)) {
    memcpy(&passed, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof passed);
    recv(channel, &byte, 1, 0);  // until its maker has closed its own copy
  }
  close(channel);
  return passed;
}

static void carry(int from, int to, int level, int name) {
  char value[64];
  socklen_t length = sizeof value;
  if (getsockopt(from, level, name, value, &length) == 0)
    setsockopt(to, level, name, value, length);
}

static void carry_options(int from, int to) {
  static const int plain[] = {SO_REUSEADDR, SO_REUSEPORT, SO_KEEPALIVE, SO_OOBINLINE,
                              SO_LINGER,    SO_RCVTIMEO,  SO_SNDTIMEO};
  for (unsigned i = 0; i < sizeof plain / sizeof *plain; i++) carry(from, to, SOL_SOCKET, plain[i]);
  const int locked = option(from, SOL_SOCKET, BUF_LOCK);
  for (int i = 0; i < 2; i++) {
    const int name = i ? SO_RCVBUF : SO_SNDBUF;
    const int half = option(from, SOL_SOCKET, name) / 2;
    if (locked & (1 << i)) setsockopt(to, SOL_SOCKET, name, &half, sizeof half);
  }
  carry(from, to, IPPROTO_TCP, TCP_NODELAY);
  carry(from, to, IPPROTO_TCP, TCP_DEFER_ACCEPT);
  carry(from, to, IPPROTO_IPV6, IPV6_V6ONLY);
}

static int bind_there(int fd, const Name* name, socklen_t length) {
  const int there = socket_there(option(fd, SOL_SOCKET, SO_DOMAIN));
  if (there < 0) return -1;
  carry_options(fd, there);
  const int bound = (int)syscall(SYS_bind, there, name, length);
  const int error = errno;
  if (bound == 0) {
    fcntl(there, F_SETFL, fcntl(fd, F_GETFL));
    syscall(SYS_dup3, there, fd, fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
  }
  close(there);
  errno = error;
  return bound;
}

static int forget(int fd) {
  const int family = fd >= 0 && fd < DESCRIPTORS ? bound_later[fd] : 0;
  if (family) bound_later[fd] = 0;
  return family;
}

static void bind_now(int fd) {
  const Name name = {.any.sa_family = (sa_family_t)forget(fd)};
  if (name.any.sa_family) syscall(SYS_bind, fd, &name, sizeof name.v6);
}

int socket(int family, int type, int protocol) {
  const int fd = (int)syscall(SYS_socket, family, type, protocol);
  forget(fd);
  return fd;
}

int bind(int fd, const struct sockaddr* given, socklen_t length) {
  Name name = {0};
  if (!given || length > sizeof name || !is_tcp(fd))
    return (int)syscall(SYS_bind, fd, given, length);
  memcpy(&name, given, length);
  if (!to_machine(&name, 0) && (!is_any(&name) || name.v4.sin_port == 0)) {
    if (late && is_any(&name) && fd < DESCRIPTORS && cookie_of(fd) == own_cookie) {
      bound_later[fd] = (char)name.any.sa_family;
      return 0;
    }
    return (int)syscall(SYS_bind, fd, given, length);
  }
  if (cookie_of(fd) != own_cookie) return (int)syscall(SYS_bind, fd, &name, length);
  return bind_there(fd, &name, length);
}

int listen(int fd, int backlog) {
  Name name = {0};
  socklen_t length = sizeof name;
  bind_now(fd);
  if (is_tcp(fd) && cookie_of(fd) == own_cookie &&
      syscall(SYS_getsockname, fd, &name, &length) == 0 && is_any(&name)) {
    bind_there(fd, &name, length);
  }
  return (int)syscall(SYS_listen, fd, backlog);
}

int connect(int fd, const struct sockaddr* given, socklen_t length) {
  Name name = {0};
  if (!given || length > sizeof name || !is_tcp(fd)) {
    return (int)syscall(SYS_connect, fd, given, length);
  }
  memcpy(&name, given, length);
  forget(fd);
  to_machine(&name, 1);
  return (int)syscall(SYS_connect, fd, &name, length);
}

/* Hands a name to the caller as the kernel would: truncated, with its true length. */
static void give(const Name* name, socklen_t length, struct sockaddr* to, socklen_t* room) {
  memcpy(to, name, length < *room ? length : *room);
  *room = length;
}

static int ask(long call, int fd, struct sockaddr* to, socklen_t* room) {
  Name name = {0};
  socklen_t length = sizeof name;
  if (!to || !room || !is_tcp(fd)) return (int)syscall(call, fd, to, room);
  if (call == SYS_getsockname) bind_now(fd);
  if (syscall(call, fd, &name, &length) != 0) return -1;
  to_loopback(&name);
  give(&name, length, to, room);
  return 0;
}

int getsockname(int fd, struct sockaddr* to, socklen_t* room) {
  return ask(SYS_getsockname, fd, to, room);
}

int getpeername(int fd, struct sockaddr* to, socklen_t* room) {
  return ask(SYS_getpeername, fd, to, room);
}

int accept4(int fd, struct sockaddr* to, socklen_t* room, int flags) {
  Name name = {0};
  socklen_t length = sizeof name;
  if (!to || !room || !is_tcp(fd)) return (int)syscall(SYS_accept4, fd, to, room, flags);
  const int accepted = (int)syscall(SYS_accept4, fd, &name, &length, flags);
  if (accepted < 0) return -1;
  forget(accepted);
  to_loopback(&name);
  give(&name, length, to, room);
  return accepted;
}

int accept(int fd, struct sockaddr* to, socklen_t* room) { return accept4(fd, to, room, 0); }
