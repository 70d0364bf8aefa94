// Named plays whose transcript must not depend on who answers the calls.
//
//   PROGRAM KEY=VALUE... [PLAY...]
//
// A line tells what a call gave, never an address or a duration. "~ ..." is compared between the
// two containers only: the host's root may more. "@ ..." is the oracle: on which side a socket is,
// and where it ought to be when sockhop is there.
#pragma once

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

enum { kPatience = 10000, kShort = 200 };

struct play {
  const char* name;
  void (*run)(void);
};

static char** words;
static int word_count;
static uint64_t own_namespace;
static struct sockaddr_in good4, refused4, silent4;
static struct sockaddr_in6 good6;

static inline const char* word(const char* key) {
  const size_t size = strlen(key);
  for (int i = 1; i < word_count; ++i)
    if (strncmp(words[i], key, size) == 0 && words[i][size] == '=') return words[i] + size + 1;
  return "";
}

static inline struct sockaddr_in v4(const char* address, int port) {
  struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  inet_pton(AF_INET, address, &name.sin_addr);
  return name;
}

static inline struct sockaddr_in6 v6(const char* address, int port) {
  struct sockaddr_in6 name = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
  inet_pton(AF_INET6, address, &name.sin6_addr);
  return name;
}

static inline const char* mapped(const char* address) {
  static char text[64];
  snprintf(text, sizeof text, "::ffff:%s", address);
  return text;
}

static inline void say(const char* what, long result) {
  const int error = errno;
  printf("  %s: %s\n", what, result < 0 ? strerrorname_np(error) : "ok");
  fflush(stdout);
}

// Compared between the containers only.
static inline void say_inside(const char* what, long result) {
  const int error = errno;
  printf("~ %s: %s\n", what, result < 0 ? strerrorname_np(error) : "ok");
  fflush(stdout);
}

static inline uint64_t cookie_of(int fd) {
  uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size);
  return cookie;
}

static inline void side(const char* what, int fd, const char* wanted) {
  const int hopped = cookie_of(fd) != own_namespace;
  printf("@ %s: %s, wanted %s\n", what, hopped ? "hop" : "stay", wanted);
  fflush(stdout);
}

static inline int tcp(int flags) { return socket(AF_INET, SOCK_STREAM | flags, 0); }
static inline int tcp6(int flags) { return socket(AF_INET6, SOCK_STREAM | flags, 0); }

static inline int to4(int fd, const struct sockaddr_in* name) {
  return connect(fd, (const struct sockaddr*)name, sizeof *name);
}
static inline int to6(int fd, const struct sockaddr_in6* name) {
  return connect(fd, (const struct sockaddr*)name, sizeof *name);
}
static inline int bind4(int fd, const char* address, int port) {
  const struct sockaddr_in name = v4(address, port);
  return bind(fd, (const struct sockaddr*)&name, sizeof name);
}

static inline int set_int(int fd, int level, int name, int value) {
  return setsockopt(fd, level, name, &value, sizeof value);
}

static inline void say_option(const char* what, int fd, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  if (getsockopt(fd, level, name, &value, &size) < 0) return say(what, -1);
  printf("  %s = %d\n", what, value);
}

// Says a word and hears it again.
static inline void talk(const char* what, int out, int in) {
  static uint32_t number;
  uint32_t said = ++number + (uint32_t)getpid(), heard = 0;
  if (send(out, &said, sizeof said, MSG_NOSIGNAL) != (ssize_t)sizeof said) return say(what, -1);
  struct pollfd one = {in, POLLIN, 0};
  poll(&one, 1, kPatience);
  if (recv(in, &heard, sizeof heard, MSG_DONTWAIT) < 0) return say(what, -1);
  printf("  %s: %s\n", what, heard == said ? "same" : "other");
  fflush(stdout);
}

static inline void wait_out(int fd) {
  struct pollfd one = {fd, POLLOUT, 0};
  poll(&one, 1, kPatience);
}

static inline void say_error(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  printf("  SO_ERROR: %s\n", error ? strerrorname_np(error) : "0");
}

// Own name: does it show the address that `expected` gives?
static inline void say_own(const char* what, int fd, const char* expected) {
  struct sockaddr_storage name = {0};
  socklen_t size = sizeof name;
  char text[64] = "?";
  if (getsockname(fd, (struct sockaddr*)&name, &size) < 0) return say(what, -1);
  int port = 0;
  if (name.ss_family == AF_INET) {
    inet_ntop(AF_INET, &((struct sockaddr_in*)&name)->sin_addr, text, sizeof text);
    port = ((struct sockaddr_in*)&name)->sin_port;
  } else {
    inet_ntop(AF_INET6, &((struct sockaddr_in6*)&name)->sin6_addr, text, sizeof text);
    port = ((struct sockaddr_in6*)&name)->sin6_port;
  }
  const int same = strcmp(text, expected) == 0;
  printf("  %s: %s, size %d, %s\n", what, same ? "as expected" : text, (int)size,
         port ? "a port" : "no port");
}

static inline int wait_child(pid_t child) {
  int status = -1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline int asked_for(const char* play) {
  int named = 0;
  for (int i = 1; i < word_count; ++i) {
    if (strchr(words[i], '=') != NULL) continue;
    named = 1;
    if (strcmp(words[i], play) == 0) return 1;
  }
  return !named;
}

static inline int run_plays(const struct play* plays, int argc, char** argv) {
  words = argv;
  word_count = argc;
  const int fresh = tcp(0);
  own_namespace = cookie_of(fresh);
  close(fresh);
  good4 = v4(word("machine4"), atoi(word("port")));
  refused4 = v4(word("machine4"), atoi(word("refused")));
  silent4 = v4(word("machine4"), atoi(word("silent")));
  good6 = v6(word("machine6"), atoi(word("port")));
  for (; plays->name != NULL; ++plays) {
    if (!asked_for(plays->name)) continue;
    printf("%s\n", plays->name);
    fflush(stdout);
    plays->run();
  }
  return 0;
}
