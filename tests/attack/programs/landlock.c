// A process that restricts itself by Landlock, and its relatives: each connects and tells on which
// side its socket is, "NAME SIDE" (0: of the host, it hopped; 1: of the container).
//
//   landlock MACHINE PORT
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "attack.h"

static const char* machine;
static int port;
static const char* self = "/proc/self/exe";

static void tell(const char* name) {
  int fd = tcp_socket(AF_INET);
  int result = connect4(fd, machine, port);
  printf("%s %d\n", name, result < 0 ? -errno : is_inside(fd));
  fflush(stdout);
  close(fd);
}

static int ruleset(void) {
  // What is handled and not granted is refused: only writing files is handled (2).
  uint64_t attributes[1] = {2};
  return (int)syscall(444, attributes, sizeof attributes, 0);
}

static int restrict_self(int rules) { return (int)syscall(446, rules, 0); }

static void end(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
}

// A child of a child that ends first: it connects once it has another parent.
static void tell_orphan(const char* name) {
  int done[2];
  if (pipe(done) < 0) exit(1);
  pid_t middle = fork();
  if (middle == 0) {
    pid_t old = getpid();
    if (fork() == 0) {
      while (getppid() == old) usleep(1000);
      tell(name);
      _exit(0);
    }
    _exit(0);
  }
  end(middle);
  close(done[1]);
  char byte;
  while (read(done[0], &byte, 1) < 0) continue;  // until the orphan has ended
  close(done[0]);
}

static void* thread(void* unused) {
  tell("thread");
  return unused;
}

static void caller(void) {
  int rules = ruleset();
  if (restrict_self(rules) == 0) exit(1);
  tell("refused");
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (restrict_self(0) == 0 || restrict_self(1000) == 0) exit(1);
  tell("failed");
  if (restrict_self(rules) < 0) exit(1);
  tell("caller");
  pthread_t young;
  pthread_create(&young, NULL, thread, NULL);
  pthread_join(young, NULL);
  pid_t child = fork();
  if (child == 0) {
    execl(self, self, machine, "child", NULL);
    _exit(1);
  }
  end(child);
  tell_orphan("orphan");
  // A child of its parent's.
  int done[2];
  if (pipe(done) < 0) exit(1);
  if (syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0) {
    tell("brother");
    _exit(0);
  }
  close(done[1]);
  char byte;
  while (read(done[0], &byte, 1) < 0) continue;
  exit(0);
}

// It is older than the call, and its own child is not.
static pid_t begin_older(int* go) {
  int way[2];
  if (pipe(way) < 0) exit(1);
  *go = way[1];
  pid_t older = fork();
  if (older != 0) {
    close(way[0]);
    // A start is told in ticks of 10 ms: the call must be in another one.
    for (double begin = now(); now() < begin + 0.02;) usleep(1000);
    return older;
  }
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  close(way[1]);
  char byte;
  while (read(way[0], &byte, 1) < 0) continue;
  tell("older");
  pid_t child = fork();
  if (child == 0) {
    tell("nephew");
    _exit(0);
  }
  end(child);
  exit(0);
}

int main(int argc, char** argv) {
  usage_unless(argc == 3, "landlock MACHINE PORT");
  machine = argv[1];
  port = atoi(argv[2]);
  if (port == 0) {
    // The same program, executed by a child of the caller.
    port = atoi(getenv("PORT"));
    tell(argv[2]);
    return 0;
  }
  setenv("PORT", argv[2], 1);
  if (ruleset() < 0) return 77;
  int go = -1;
  pid_t older = begin_older(&go);
  pid_t child = fork();
  if (child == 0) caller();
  end(child);
  tell("parent");
  close(go);
  end(older);
  pid_t younger = fork();
  if (younger == 0) {
    tell("younger");
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    tell("unclear");
    _exit(0);
  }
  end(younger);
  return 0;
}
