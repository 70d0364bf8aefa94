// Every deterministic way to loopback that is known; one line each: NAME RESULT ERRNO.
//
//   ways MACHINE PORT CLOSED_PORT LOGGER_PORT
//
// MACHINE:PORT answers and hops, MACHINE:CLOSED_PORT refuses; LOGGER_PORT is the logger's on the
// host's 127.0.0.1 and ::1, and nobody's inside. A way that ends with 0 got through.
#include <sys/time.h>

#include "attack.h"

static const char* machine;
static int open_port, closed_port, logger_port;

static void tell(const char* name, long result) {
  printf("%s %d %d\n", name, result < 0 ? -1 : 0, result < 0 ? errno : 0);
}

// A connect that nobody answers is given up soon.
static int impatient(int family) {
  int fd = tcp_socket(family);
  struct timeval soon = {2, 0};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon);
  return fd;
}

static int hopped(int port) {
  int fd = impatient(AF_INET);
  connect4(fd, machine, port);
  return fd;
}

static void spellings(void) {
  static const char* four[] = {"127.0.0.1", "127.0.0.2", "127.1.2.3", "127.255.255.254", "0.0.0.0"};
  static const char* six[] = {
      "::1", "::", "::ffff:127.0.0.1", "::ffff:127.9.9.9", "::ffff:0.0.0.0", "::127.0.0.1"};
  char name[64];
  for (unsigned i = 0; i < sizeof four / sizeof *four; ++i) {
    int fd = impatient(AF_INET);
    snprintf(name, sizeof name, "spelling:%s", four[i]);
    tell(name, connect4(fd, four[i], logger_port));
    close(fd);
  }
  for (unsigned i = 0; i < sizeof six / sizeof *six; ++i) {
    for (unsigned scope = 0; scope < 3; ++scope) {
      int fd = impatient(AF_INET6);
      struct sockaddr_in6 to = v6(six[i], logger_port, scope);
      snprintf(name, sizeof name, "spelling:%s%%%u", six[i], scope);
      tell(name, do_connect(fd, &to, sizeof to));
      close(fd);
    }
  }
}

static void after_refusal(void) {
  struct sockaddr_in loopback = v4("127.0.0.1", logger_port);
  int fd = hopped(closed_port);
  tell("refused,connect", connect4(fd, "127.0.0.1", logger_port));
  tell("refused,connect,fastopen", do_sendto(fd, MSG_FASTOPEN, &loopback, sizeof loopback));
  close(fd);
  fd = hopped(closed_port);
  tell("refused,fastopen", do_sendto(fd, MSG_FASTOPEN, &loopback, sizeof loopback));
  close(fd);
  struct iovec byte = {"x", 1};
  struct mmsghdr message = {.msg_hdr = {.msg_name = &loopback,
                                        .msg_namelen = sizeof loopback,
                                        .msg_iov = &byte,
                                        .msg_iovlen = 1}};
  fd = hopped(closed_port);
  tell("refused,sendmsg", sendmsg(fd, &message.msg_hdr, MSG_FASTOPEN));
  close(fd);
  fd = hopped(closed_port);
  tell("refused,sendmmsg", sendmmsg(fd, &message, 1, MSG_FASTOPEN));
  close(fd);
  fd = hopped(closed_port);
  int copy = dup(fd);
  dissolve(copy);
  tell("refused,dup,unspec,connect", connect4(fd, "127.0.0.1", logger_port));
  close(copy);
  close(fd);
}

static void after_connection(void) {
  struct sockaddr_in loopback = v4("127.0.0.1", logger_port);
  struct sockaddr_in anywhere = v4("0.0.0.0", 0);
  int fd = hopped(open_port);
  printf("hopped %d 0\n", is_inside(fd) ? -1 : 0);
  int other = dup(fd);
  dissolve(fd);
  tell("unspec,connect", connect4(fd, "127.0.0.1", logger_port));
  tell("unspec,connect by a duplicate", connect4(other, "127.0.0.1", logger_port));
  tell("unspec,fastopen by a duplicate",
       do_sendto(other, MSG_FASTOPEN, &loopback, sizeof loopback));
  close(other);
  close(fd);
  fd = hopped(open_port);
  tell("bind of a connected one", do_bind(fd, &anywhere, sizeof anywhere));
  shutdown(fd, SHUT_RDWR);
  tell("shutdown,connect", connect4(fd, "127.0.0.1", logger_port));
  tell("shutdown,fastopen", do_sendto(fd, MSG_FASTOPEN, &loopback, sizeof loopback));
  dissolve(fd);
  do_bind(fd, &anywhere, sizeof anywhere);
  tell("shutdown,unspec,bind,connect", connect4(fd, "127.0.0.1", logger_port));
  close(fd);
  fd = impatient(AF_INET);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  connect4(fd, machine, open_port);
  dissolve(fd);
  fcntl(fd, F_SETFL, 0);
  tell("in progress,unspec,connect", connect4(fd, "127.0.0.1", logger_port));
  close(fd);
}

static void by_options(void) {
  int one = 1;
  int fd = hopped(open_port);
  tell("bind to lo", setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 2));
  tell("bind to nothing", setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "", 0));
  tell("transparent", setsockopt(fd, SOL_IP, IP_TRANSPARENT, &one, sizeof one));
  tell("mark", setsockopt(fd, SOL_SOCKET, SO_MARK, &one, sizeof one));
  tell("repair", setsockopt(fd, SOL_TCP, TCP_REPAIR, &one, sizeof one));
  close(fd);
  fd = impatient(AF_INET);
  setsockopt(fd, SOL_TCP, TCP_FASTOPEN_CONNECT, &one, sizeof one);
  connect4(fd, machine, open_port);
  dissolve(fd);
  int result = connect4(fd, "127.0.0.1", logger_port);
  tell("fastopen connect", result < 0 ? result : write(fd, "x", 1));
  close(fd);
}

static void bound_and_listening(void) {
  struct sockaddr_in anywhere = v4("0.0.0.0", 0);
  int fd = impatient(AF_INET);
  do_bind(fd, &anywhere, sizeof anywhere);
  tell("bind,connect", connect4(fd, "127.0.0.1", logger_port));
  close(fd);
  fd = hopped(closed_port);
  tell("refused,listen", do_listen(fd, 5) == 0 && is_inside(fd) ? -1 : 0);
  close(fd);
  fd = hopped(open_port);
  dissolve(fd);
  tell("unspec,listen", do_listen(fd, 5) == 0 && is_inside(fd) ? -1 : 0);
  close(fd);
}

static void unix_and_rings(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  int length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "sockhop-%d", logger_port);
  socklen_t size = (socklen_t)offsetof(struct sockaddr_un, sun_path) + 1 + (socklen_t)length;
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  tell("abstract unix", do_connect(fd, &name, size));
  close(fd);
  char params[256] = {0};
  tell("io_uring", syscall(SYS_io_uring_setup, 4, params));
}

int main(int argc, char** argv) {
  usage_unless(argc == 5, "ways MACHINE PORT CLOSED_PORT LOGGER_PORT");
  machine = argv[1];
  open_port = atoi(argv[2]);
  closed_port = atoi(argv[3]);
  logger_port = atoi(argv[4]);
  setvbuf(stdout, NULL, _IOLBF, 0);
  spellings();
  after_refusal();
  after_connection();
  by_options();
  bound_and_listening();
  unix_and_rings();
  return 0;
}
