// Every reference to a socket sees the connection that one of them made, whoever holds it.
#include <sched.h>
#include <signal.h>

#include "cases.h"

static void same_side(const char* what, int one, int other) {
  printf("  %s: %s\n", what, cookie_of(one) == cookie_of(other) ? "one side" : "two sides");
}

static void connected_by(const char* what, int fd, int other, const char* wanted) {
  say("connect", to4(fd, &good4));
  same_side(what, fd, other);
  side(what, fd, wanted);
  talk(what, fd, other);
  close(other);
  talk("what is left", fd, fd);
  close(fd);
}

static void duplicates(void) {
  int fd = tcp(0);
  connected_by("dup", fd, dup(fd), "hop");
  fd = tcp(0);
  connected_by("dup2", fd, dup2(fd, 200), "hop");
  fd = tcp(0);
  connected_by("dup3", fd, dup3(fd, 201, O_CLOEXEC), "hop");
  fd = tcp(0);
  connected_by("F_DUPFD", fd, fcntl(fd, F_DUPFD, 300), "hop");
  fd = tcp(0);
  const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 301);
  say("connect", to4(copy, &good4));
  printf("  flags %d %d\n", fcntl(fd, F_GETFD), fcntl(copy, F_GETFD));
  close(copy);
  talk("the first", fd, fd);
  close(fd);
  int many[40];
  many[0] = tcp(0);
  for (int i = 1; i < 40; ++i) many[i] = dup(many[0]);
  say("connect", to4(many[17], &good4));
  for (int i = 0; i < 40; i += 13) same_side("many", many[i], many[17]);
  talk("many", many[3], many[39]);
  for (int i = 0; i < 40; ++i) close(many[i]);
}

// The child works on what it inherited, when told to.
static void with_child(const char* what, void (*child)(int fd), int child_first) {
  const int fd = tcp(0);
  int go[2], done[2];
  char byte = 'x';
  if (pipe(go) < 0 || pipe(done) < 0) return;
  const pid_t pid = fork();
  if (pid == 0) {
    if (!child_first && read(go[0], &byte, 1) != 1) _exit(1);
    child(fd);
    if (write(done[1], &byte, 1) != 1 || read(go[0], &byte, 1) < 0) _exit(1);
    _exit(0);
  }
  if (child_first && read(done[0], &byte, 1) != 1) return;
  if (!child_first) say("connect", to4(fd, &good4));
  if (!child_first && (write(go[1], &byte, 1) != 1 || read(done[0], &byte, 1) != 1)) return;
  talk(what, fd, fd);
  say("again", to4(fd, &good4));
  if (write(go[1], &byte, 1) != 1) return;
  wait_child(pid);
  close(fd);
  close(go[0]), close(go[1]), close(done[0]), close(done[1]);
}

static void child_talks(int fd) { talk("child", fd, fd); }
static void child_connects(int fd) { say("child connects", to4(fd, &good4)); }

static void forked(void) {
  with_child("parent first", child_talks, 0);
  with_child("child first", child_connects, 1);
}

struct shared {
  int fd, go[2], done[2];
};

static int sharing_child(void* given) {
  struct shared* shared = given;
  char byte = 'x';
  if (read(shared->go[0], &byte, 1) != 1) return 1;
  talk("who shares the table", shared->fd, shared->fd);
  return write(shared->done[1], &byte, 1) != 1;
}

static void shared_table(void) {
  static char stack[65536] __attribute__((aligned(16)));
  struct shared shared = {.fd = tcp(0)};
  char byte = 'x';
  if (pipe(shared.go) < 0 || pipe(shared.done) < 0) return;
  const pid_t pid =
      clone(sharing_child, stack + sizeof stack, CLONE_FILES | CLONE_VM | SIGCHLD, &shared);
  say("clone", pid);
  say("connect", to4(shared.fd, &good4));
  side("CLONE_FILES", shared.fd, "hop");
  if (write(shared.go[1], &byte, 1) != 1 || read(shared.done[0], &byte, 1) != 1) return;
  wait_child(pid);
  talk("this one", shared.fd, shared.fd);
  close(shared.fd);
}

static int send_fd(int channel, int fd) {
  char control[CMSG_SPACE(sizeof fd)] = {0};
  struct iovec byte = {&(char){'x'}, 1};
  struct msghdr message = {
      .msg_iov = &byte, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS, head->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(head), &fd, sizeof fd);
  return sendmsg(channel, &message, 0) == 1 ? 0 : -1;
}

static int receive_fd(int channel) {
  int fd = -1;
  char control[CMSG_SPACE(sizeof fd)] = {0};
  struct iovec byte = {&(char){0}, 1};
  struct msghdr message = {
      .msg_iov = &byte, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  if (recvmsg(channel, &message, 0) != 1) return -1;
  const struct cmsghdr* head = CMSG_FIRSTHDR(&message);
  if (head != NULL) memcpy(&fd, CMSG_DATA(head), sizeof fd);
  return fd;
}

// Unconnected, kept by the sender too; the receiver connects. Then the same the other way round.
static void passed(int receiver_connects) {
  int ends[2];
  char byte = 'x';
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0) return;
  const pid_t pid = fork();
  if (pid == 0) {
    const int got = receive_fd(ends[1]);
    if (receiver_connects) say("receiver connects", to4(got, &good4));
    if (write(ends[1], &byte, 1) != 1 || read(ends[1], &byte, 1) != 1) _exit(1);
    talk("receiver", got, got);
    _exit(0);
  }
  const int fd = tcp(0);
  send_fd(ends[0], fd);
  if (read(ends[0], &byte, 1) != 1) return;
  if (!receiver_connects) say("sender connects", to4(fd, &good4));
  talk("sender", fd, fd);
  if (write(ends[0], &byte, 1) != 1) return;
  wait_child(pid);
  close(fd), close(ends[0]), close(ends[1]);
}

static void rights(void) {
  passed(1);
  passed(0);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0) return;
  // Nobody else keeps it: a connected one, and one that is connected where it arrives.
  int fd = tcp(0);
  say("connect", to4(fd, &good4));
  send_fd(ends[0], fd);
  close(fd);
  fd = receive_fd(ends[1]);
  side("arrived connected", fd, "hop");
  talk("arrived", fd, fd);
  close(fd);
  fd = tcp(0);
  send_fd(ends[0], fd);
  close(fd);
  fd = receive_fd(ends[1]);
  say("connect what arrived", to4(fd, &good4));
  side("arrived unconnected", fd, "hop");
  talk("arrived", fd, fd);
  close(fd), close(ends[0]), close(ends[1]);
}

// Sent, not received yet, and connected meanwhile.
static void in_flight(void) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0) return;
  const int fd = tcp(0);
  send_fd(ends[0], fd);
  say("connect", to4(fd, &good4));
  // What arrives may be the socket as it was sent; README names it. The sender must not notice.
  const int got = receive_fd(ends[1]);
  say("received", got);
  talk("sender", fd, fd);
  close(fd), close(got), close(ends[0]), close(ends[1]);
}

static void taken(void) {
  const int fd = tcp(0);
  const int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
  const int copy = (int)syscall(SYS_pidfd_getfd, self, fd, 0);
  connected_by("pidfd_getfd", fd, copy, "hop");
  const int other = tcp(0);
  int ends[2];
  char byte = 'x';
  if (pipe(ends) < 0) return;
  const pid_t pid = fork();
  if (pid == 0) {
    close(other);
    if (read(ends[0], &byte, 1) != 1) _exit(1);
    _exit(0);
  }
  // A copy of a process that is no relative of the fd's table: taken from this one by the child's
  // id.
  say("connect", to4(other, &good4));
  const int again = (int)syscall(SYS_pidfd_getfd, self, other, 0);
  same_side("taken afterwards", other, again);
  talk("taken", other, again);
  if (write(ends[1], &byte, 1) != 1) return;
  wait_child(pid);
  close(other), close(again), close(self), close(ends[0]), close(ends[1]);
}

static const struct play plays[] = {{"duplicates", duplicates},
                                    {"forked", forked},
                                    {"shared-table", shared_table},
                                    {"rights", rights},
                                    {"in-flight", in_flight},
                                    {"taken", taken},
                                    {NULL, NULL}};

int main(int argc, char** argv) { return run_plays(plays, argc, argv); }
