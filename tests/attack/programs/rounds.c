// Many rounds of one attack on a hopped socket, by every route that one process has.
//
//   rounds KIND COUNT MACHINE PORT CLOSED_PORT LOGGER_PORT
//
// Prints "rounds N hopped H reached R": R counts calls that got through to the host's loopback, or
// that gave the container a right on a host socket.
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "attack.h"

static const char* machine;
static int open_port, closed_port, logger_port;
static long hopped, reached;
static uint64_t own_namespace;

static void expect_failure(const char* what, long result) {
  if (result < 0) return;
  if (++reached < 20) fprintf(stderr, "%s got through\n", what);
}

static int hop(int port) {
  const int fd = tcp_socket(AF_INET);
  struct timeval soon = {5, 0};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon);
  connect4(fd, machine, port);
  hopped += cookie_of(fd) != own_namespace;
  return fd;
}

static int unconnect(int fd, socklen_t length) {
  struct sockaddr_in6 nobody = {.sin6_family = AF_UNSPEC};
  return do_connect(fd, &nobody, length);
}

static int through_unix(int fd) {
  int ends[2], got = -1;
  char control[CMSG_SPACE(sizeof fd)] = {0};
  struct iovec byte = {&(char){0}, 1};
  struct msghdr message = {
      .msg_iov = &byte, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS, head->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(head), &fd, sizeof fd);
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) < 0) return -1;
  if (sendmsg(ends[0], &message, 0) == 1 && recvmsg(ends[1], &message, 0) == 1) {
    memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof got);
  }
  close(ends[0]);
  close(ends[1]);
  return got;
}

static int by_pidfd(int fd) {
  const int own = (int)syscall(SYS_pidfd_open, getpid(), 0);
  const int got = (int)syscall(SYS_pidfd_getfd, own, fd, 0);
  close(own);
  return got;
}

static void try_loopback(int fd) {
  const struct sockaddr_in loopback = v4("127.0.0.1", logger_port);
  expect_failure("connect", do_connect(fd, &loopback, sizeof loopback));
  expect_failure("fast open", do_sendto(fd, MSG_FASTOPEN, &loopback, sizeof loopback));
}

static void unspec(long round) {
  const int fd = hop(round % 16 == 7 ? closed_port : open_port);
  int other = -1;
  switch (round % 8) {
    case 0:
      unconnect(fd, 16);
      break;
    case 1:
      other = dup(fd);
      break;
    case 2:
      unconnect(fd, 2);
      break;
    case 3:
      unconnect(fd, 28);
      break;
    case 4:
      other = through_unix(fd);
      break;
    case 5:
      other = by_pidfd(fd);
      break;
    case 6:
      shutdown(fd, SHUT_RDWR);
      unconnect(fd, 15);
      break;
    default:
      if (round % 64 == 7 && fork() == 0) {
        unconnect(fd, 16);
        try_loopback(fd);
        _exit(reached != 0);
      }
      int status = 0;
      if (round % 64 == 7 && wait(&status) > 0) reached += status != 0;
  }
  if (other >= 0) unconnect(other, 16);
  try_loopback(fd);
  if (other >= 0) try_loopback(other), close(other);
  close(fd);
}

static void interface_requests(long round) {
  static int fd = -1;
  char room[256] = "lo";
  if (fd < 0) fd = hop(open_port);
  const unsigned long high = sizeof(long) == 8 ? (unsigned long)round << 31 << 1 : 0;
  const unsigned long request = 0x8900UL | (unsigned long)(round & 0xff);
  const long result = syscall(SYS_ioctl, fd, request | high, room);
  // No descriptor, and nothing of a device, comes from a request that anybody may make.
  if (request == 0x894c || request == 0x8982 || request == 0x8983) expect_failure("ioctl", result);
}

static void packet_info(long round) {
  const int fd = round % 2 ? hop(open_port) : socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in loopback = v4("127.0.0.1", logger_port);
  char control[CMSG_SPACE(sizeof(struct in_pktinfo))] = {0};
  struct iovec byte = {"x", 1};
  struct msghdr message = {.msg_name = &loopback,
                           .msg_namelen = sizeof loopback,
                           .msg_iov = &byte,
                           .msg_iovlen = 1,
                           .msg_control = control,
                           .msg_controllen = sizeof control};
  struct cmsghdr* head = CMSG_FIRSTHDR(&message);
  const struct in_pktinfo lo = {.ipi_ifindex = 1, .ipi_spec_dst = {htonl(INADDR_LOOPBACK)}};
  head->cmsg_level = SOL_IP, head->cmsg_type = IP_PKTINFO, head->cmsg_len = CMSG_LEN(sizeof lo);
  memcpy(CMSG_DATA(head), &lo, sizeof lo);
  const int index = htonl(1);
  setsockopt(fd, SOL_IP, IP_UNICAST_IF, &index, sizeof index);
  if (round % 2 == 0) {
    // A datagram socket: whatever the container's own loopback says, the logger hears nothing.
    if (round % 4 == 0) connect4(fd, machine, open_port);
    sendmsg(fd, &message, 0);
    unconnect(fd, 16);
    sendmsg(fd, &message, 0);
    connect4(fd, "127.0.0.1", logger_port);
    send(fd, "x", 1, 0);
  } else {
    unconnect(fd, 16);
    expect_failure("fast open to lo", sendmsg(fd, &message, MSG_FASTOPEN));
    try_loopback(fd);
  }
  close(fd);
}

static void use_rights(int fd, int dissolved) {
  const int one = 1, lo = 1;
  expect_failure("repair", setsockopt(fd, SOL_TCP, TCP_REPAIR, &one, sizeof one));
  expect_failure("mark", setsockopt(fd, SOL_SOCKET, SO_MARK, &one, sizeof one));
  expect_failure("transparent", setsockopt(fd, SOL_IP, IP_TRANSPARENT, &one, sizeof one));
  expect_failure("device", setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 2));
  expect_failure("no device", setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "", 0));
  expect_failure("index", setsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &lo, sizeof lo));
  if (dissolved) unconnect(fd, 16);
  expect_failure("repair", setsockopt(fd, SOL_TCP, TCP_REPAIR, &one, sizeof one));
  try_loopback(fd);
}

static void repair(long round) {
  const int fd = hop(open_port);
  use_rights(fd, round % 2);
  close(fd);
}

static void in_new_namespaces(void) {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0 && unshare(CLONE_NEWNET) < 0) _exit(1);
  const int any = tcp_socket(AF_INET);
  struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
  if (ioctl(any, SIOCSIFFLAGS, &lo) < 0) _exit(1);
  close(any);
}

static void nested(long round) {
  const int fd = hop(open_port);
  if (round % 16 == 0 && fork() == 0) {
    in_new_namespaces();
    use_rights(fd, round % 32 == 0);
    _exit(reached != 0);
  }
  int status = 0;
  if (round % 16 == 0 && wait(&status) > 0) reached += status != 0;
  close(fd);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*play)(long round);
  } plays[] = {{"unspec", unspec},
               {"ioctl", interface_requests},
               {"pktinfo", packet_info},
               {"repair", repair},
               {"nested", nested}};
  usage_unless(argc == 7, "rounds KIND COUNT MACHINE PORT CLOSED_PORT LOGGER_PORT");
  machine = argv[3];
  open_port = atoi(argv[4]);
  closed_port = atoi(argv[5]);
  logger_port = atoi(argv[6]);
  const int fresh = tcp_socket(AF_INET);
  own_namespace = cookie_of(fresh);
  close(fresh);
  const long count = atol(argv[2]);
  for (size_t i = 0; i < sizeof plays / sizeof *plays; ++i) {
    if (strcmp(argv[1], plays[i].name) != 0) continue;
    for (long round = 0; round < count; ++round) plays[i].play(round);
    printf("rounds %ld hopped %ld reached %ld\n", count, hopped, reached);
    return 0;
  }
  return 2;
}
