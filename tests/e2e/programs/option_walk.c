// Every option of a TCP socket that Linux lets one read, before and after connect().
//
//   option_walk KEY=VALUE... family=4|6 to=good|refused
//
// "LEVEL NAME default BEFORE AFTER SIDE": nothing was set. "LEVEL NAME set BEFORE AFTER SIDE": on a
// socket of its own it had another value than the default. Values are hexadecimal, "-" unreadable.
#include <sys/time.h>

#include "cases.h"

enum { kNames = 256, kRoom = 64 };

struct value {
  unsigned char bytes[256];
  socklen_t size;
  int error;
};

static const int levels[] = {SOL_SOCKET, IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP};
static int six;

static struct value read_one(int fd, int level, int name) {
  struct value value = {.size = sizeof value.bytes};
  if (getsockopt(fd, level, name, value.bytes, &value.size) < 0) value.error = errno;
  return value;
}

static int same(const struct value* a, const struct value* b) {
  return a->error == b->error && a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

static void show(const struct value* value) {
  if (value->error) return (void)printf(" -%s", strerrorname_np(value->error));
  printf(" %u:", value->size);
  for (socklen_t i = 0; i < value->size && i < kRoom; ++i) printf("%02x", value->bytes[i]);
}

static void show_all(int level, int name, const char* how, const struct value* before,
                     const struct value* after, int hopped) {
  printf("%d %d %s", level, name, how);
  show(before);
  show(after);
  printf(" %s\n", hopped ? "hop" : "stay");
}

// With some values nobody answers (a time to live of 1, the wrong device).
static int fresh(void) {
  const int fd = six ? tcp6(0) : tcp(0);
  const struct timeval soon = {0, 400000};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon);
  return fd;
}

static void connect_it(int fd) {
  struct sockaddr_in6 refused6 = good6;
  refused6.sin6_port = refused4.sin_port;
  const int refused = strcmp(word("to"), "refused") == 0;
  if (six) to6(fd, refused ? &refused6 : &good6);
  if (!six) to4(fd, refused ? &refused4 : &good4);
}

// Some option wants a size of its own, some a value of a certain kind.
static int set_other(int fd, int level, int name, struct value* value) {
  static const int numbers[] = {1, 0, 2, 3, 5, 16, 64, 200, 600, 1280, 4096, 100000};
  const struct value before = *value;
  char words[16] = "reno";
  if (level == IPPROTO_TCP && name == TCP_CONGESTION) {
    setsockopt(fd, level, name, words, 4);
    *value = read_one(fd, level, name);
    return !same(value, &before);
  }
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    const int pair[4] = {numbers[i], level == SOL_SOCKET && name == SO_LINGER ? 7 : 0, 0, 0};
    const socklen_t size = before.size > 16 ? 4 : before.size < 4 ? 4 : before.size;
    if (setsockopt(fd, level, name, pair, size) < 0 &&
        setsockopt(fd, level, name, pair, sizeof(int)) < 0)
      continue;
    *value = read_one(fd, level, name);
    if (!same(value, &before)) return 1;
  }
  return 0;
}

static void walk_defaults(void) {
  static struct value before[4][kNames];
  const int fd = fresh();
  for (int l = 0; l < 4; ++l)
    for (int name = 0; name < kNames; ++name) before[l][name] = read_one(fd, levels[l], name);
  connect_it(fd);
  const int hopped = cookie_of(fd) != own_namespace;
  for (int l = 0; l < 4; ++l) {
    for (int name = 0; name < kNames; ++name) {
      const struct value after = read_one(fd, levels[l], name);
      if (after.error == ENOPROTOOPT && before[l][name].error == ENOPROTOOPT) continue;
      show_all(levels[l], name, "default", &before[l][name], &after, hopped);
    }
  }
  close(fd);
}

static void walk_others(void) {
  const struct linger at_once = {1, 0};
  for (int l = 0; l < 4; ++l) {
    for (int name = 0; name < kNames; ++name) {
      const int fd = fresh();
      struct value value = read_one(fd, levels[l], name);
      if (!value.error && set_other(fd, levels[l], name, &value)) {
        connect_it(fd);
        const int hopped = cookie_of(fd) != own_namespace;
        const struct value after = read_one(fd, levels[l], name);
        show_all(levels[l], name, "set", &value, &after, hopped);
      }
      setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      close(fd);
    }
  }
}

static const struct play plays[] = {{NULL, NULL}};

int main(int argc, char** argv) {
  run_plays(plays, argc, argv);
  six = word("family")[0] == '6';
  walk_defaults();
  walk_others();
  return 0;
}
