// Which namespace a socket is of, and whose process uses it. Needs CAP_SYS_ADMIN in the container.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include "cases.h"

static void look_around(void) {
  const int fresh = tcp(0);
  own_namespace = cookie_of(fresh);
  close(fresh);
}

static void lo_up(void) {
  const int fd = tcp(0);
  struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
  say("lo up", ioctl(fd, SIOCSIFFLAGS, &lo));
  close(fd);
}

static void try_nested(void) {
  const struct sockaddr_in own = v4("127.0.0.1", 5202);
  int fd = tcp(0);
  say("out of a nested one", to4(fd, &good4));
  side("nested", fd, "stay");
  close(fd);
  fd = tcp(0);
  say("loopback that is down", to4(fd, &own));
  close(fd);
  lo_up();
  fd = tcp(0);
  say("nobody there", to4(fd, &own));
  close(fd);
  const int server = tcp(0);
  bind4(server, "127.0.0.1", 5202);
  say("listen", listen(server, 1));
  fd = tcp(0);
  say("own server", to4(fd, &own));
  const int accepted = accept(server, NULL, NULL);
  side("its own server", fd, "stay");
  talk("talk", fd, accepted);
  close(fd), close(accepted), close(server);
}

static void nested(void) {
  const pid_t child = fork();
  if (child == 0) {
    say("unshare", unshare(CLONE_NEWNET));
    look_around();
    try_nested();
    _exit(0);
  }
  wait_child(child);
  const int fd = tcp(0);
  say("the parent", to4(fd, &good4));
  side("the parent", fd, "hop");
  close(fd);
}

static void nested_users(void) {
  const pid_t child = fork();
  if (child == 0) {
    say("unshare", unshare(CLONE_NEWUSER | CLONE_NEWNET));
    look_around();
    try_nested();
    _exit(0);
  }
  wait_child(child);
}

static int made_by_thread;

static void* in_a_thread(void* unused) {
  say("a thread's unshare", unshare(CLONE_NEWNET));
  made_by_thread = tcp(0);
  const int fd = tcp(0);
  say("its connect", to4(fd, &good4));
  close(fd);
  return unused;
}

static void one_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, in_a_thread, NULL);
  pthread_join(thread, NULL);
  const int fd = tcp(0);
  say("the other thread", to4(fd, &good4));
  side("the other thread", fd, "hop");
  talk("talk", fd, fd);
  close(fd);
  // The socket of the nested namespace, used by a thread of the container.
  say("the thread's socket", to4(made_by_thread, &good4));
  close(made_by_thread);
}

static void there_and_back(void) {
  const int home = open("/proc/thread-self/ns/net", O_RDONLY), before = tcp(0);
  say("unshare", unshare(CLONE_NEWNET));
  const int inside = tcp(0), nest = open("/proc/thread-self/ns/net", O_RDONLY);
  say("a socket from before", to4(before, &good4));
  side("a socket from before", before, "hop");
  talk("talk", before, before);
  say("a socket from here", to4(inside, &good4));
  say("back", setns(home, CLONE_NEWNET));
  const int after = tcp(0);
  say("a socket from after", to4(after, &good4));
  side("a socket from after", after, "hop");
  say("the nested one, from here", to4(inside, &good4));
  say("there again", setns(nest, CLONE_NEWNET));
  const int again = tcp(0);
  say("connect", to4(again, &good4));
  say("back", setns(home, CLONE_NEWNET));
  close(home), close(nest), close(before), close(inside), close(after), close(again);
}

static void nested_server(void) {
  // The container's published port is none of this namespace's.
  const pid_t child = fork();
  if (child == 0) {
    unshare(CLONE_NEWNET);
    lo_up();
    const int server = tcp(0);
    bind4(server, "0.0.0.0", 5202);
    say("listen", listen(server, 8));
    struct pollfd one = {server, POLLIN, 0};
    printf("  somebody came: %d\n", poll(&one, 1, atoi(word("patience"))));
    fflush(stdout);
    _exit(0);
  }
  wait_child(child);
}

static void connect_as(const char* who) {
  const int fd = tcp(0);
  say(who, to4(fd, &good4));
  side(who, fd, "hop");
  talk("talk", fd, fd);
  close(fd);
}

static void identity(void) {
  printf("~ uid %d euid %d\n", (int)getuid(), (int)geteuid());
  connect_as("as it is");
  prctl(PR_SET_DUMPABLE, 0);
  connect_as("not dumpable");
  const pid_t child = fork();
  if (child == 0) {
    say("new pids", unshare(CLONE_NEWPID));
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      printf("  pid %d\n", (int)getpid());
      connect_as("in a nested pid namespace");
      _exit(0);
    }
    wait_child(grandchild);
    say("new users", unshare(CLONE_NEWUSER));
    connect_as("in a nested user namespace");
    _exit(0);
  }
  wait_child(child);
}

static void plain_identity(void) {
  printf("~ uid %d euid %d\n", (int)getuid(), (int)geteuid());
  connect_as("as it is");
  prctl(PR_SET_DUMPABLE, 0);
  connect_as("not dumpable");
}

// An own filter beside ours: one without a listener is nobody's business.
static void own_filter(void) {
  struct sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {1, allow};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  say("filter", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
  connect_as("with a filter of its own");
  if (atoi(word("listener"))) {
    say("listener",
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
    connect_as("after the listener");
  }
}

static const struct play plays[] = {{"nested", nested},
                                    {"nested-users", nested_users},
                                    {"one-thread", one_thread},
                                    {"identity", identity},
                                    {"there-and-back", there_and_back},
                                    {"nested-server", nested_server},
                                    {"own-filter", own_filter},
                                    {"plain-identity", plain_identity},
                                    {NULL, NULL}};

int main(int argc, char** argv) { return run_plays(plays, argc, argv); }
