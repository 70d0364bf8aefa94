// Helpers of the attack programs: plain C, static, also built for i386.
#pragma once

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

// On i386 the calls go through socketcall(2), as an old libc makes them.
#ifdef __i386__
static inline long by_socketcall(int number, long a, long b, long c, long d, long e, long f) {
  long words[6] = {a, b, c, d, e, f};
  return syscall(SYS_socketcall, number, words);
}
static inline int do_connect(int fd, const void* name, socklen_t length) {
  return (int)by_socketcall(3, fd, (long)name, (long)length, 0, 0, 0);
}
static inline int do_bind(int fd, const void* name, socklen_t length) {
  return (int)by_socketcall(2, fd, (long)name, (long)length, 0, 0, 0);
}
static inline int do_listen(int fd, int backlog) {
  return (int)by_socketcall(4, fd, backlog, 0, 0, 0, 0);
}
static inline int do_accept(int fd) { return (int)by_socketcall(5, fd, 0, 0, 0, 0, 0); }
static inline long do_sendto(int fd, int flags, const void* name, socklen_t length) {
  return by_socketcall(11, fd, (long)"x", 1, flags, (long)name, (long)length);
}
#else
static inline int do_connect(int fd, const void* name, socklen_t length) {
  return (int)syscall(SYS_connect, fd, name, length);
}
static inline int do_bind(int fd, const void* name, socklen_t length) {
  return bind(fd, (const struct sockaddr*)name, length);
}
static inline int do_listen(int fd, int backlog) { return listen(fd, backlog); }
static inline int do_accept(int fd) { return accept(fd, NULL, NULL); }
static inline long do_sendto(int fd, int flags, const void* name, socklen_t length) {
  return sendto(fd, "x", 1, flags, (const struct sockaddr*)name, length);
}
#endif

static inline struct sockaddr_in v4(const char* address, int port) {
  struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  inet_pton(AF_INET, address, &name.sin_addr);
  return name;
}

static inline struct sockaddr_in6 v6(const char* address, int port, unsigned scope) {
  struct sockaddr_in6 name = {
      .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port), .sin6_scope_id = scope};
  inet_pton(AF_INET6, address, &name.sin6_addr);
  return name;
}

static inline int connect4(int fd, const char* address, int port) {
  struct sockaddr_in name = v4(address, port);
  return do_connect(fd, &name, sizeof name);
}

static inline int dissolve(int fd) {
  struct sockaddr nothing = {.sa_family = AF_UNSPEC};
  return do_connect(fd, &nothing, sizeof nothing);
}

static inline int tcp_socket(int family) { return socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0); }

static inline uint64_t cookie_of(int fd) {
  uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size);
  return cookie;
}

// Is it a socket of the container (1), of another namespace (0)?
static inline int is_inside(int fd) {
  int fresh = tcp_socket(AF_INET);
  int same = cookie_of(fd) == cookie_of(fresh);
  close(fresh);
  return same;
}

static inline double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline void usage_unless(int good, const char* text) {
  if (good) return;
  fprintf(stderr, "usage: %s\n", text);
  exit(2);
}
