// Results that the caller has no place for: what the kernel could not write, nobody writes.
#include <net/if.h>
#include <sys/mman.h>

#include "cases.h"

enum { kPage = 4096 };

static char* pages;  // written, read-only, written, none, not there

static void lay_out(void) {
  pages = mmap(NULL, 5 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(pages, '.', 5 * kPage);
  mprotect(pages + kPage, kPage, PROT_READ);
  mprotect(pages + 3 * kPage, kPage, PROT_NONE);
  munmap(pages + 4 * kPage, kPage);
}

// A place of `size` bytes in pages that cannot be written, or not wholly.
static char* const* places(int size) {
  static char* all[6];
  all[0] = pages + kPage;
  all[1] = pages + kPage - size / 2;
  all[2] = pages + 3 * kPage;
  all[3] = pages + 3 * kPage - size / 2;
  all[4] = pages + 4 * kPage;
  return all;
}

static int hopped(void) {
  const int fd = tcp(0);
  say("connect", to4(fd, &good4));
  side("memory", fd, "hop");
  return fd;
}

// The parts of the two pages that can be read, as they were at the beginning.
static void say_untouched(void) {
  int dots = 0;
  for (int i = 0; i < kPage; ++i) dots += pages[kPage + i] == '.';
  printf("  read-only bytes as before %d\n", dots == kPage);
}

static void names(void) {
  const int fd = hopped();
  for (char* const* place = places(16); *place != NULL; ++place) {
    socklen_t size = 16;
    say("name", getsockname(fd, (struct sockaddr*)*place, &size));
    printf("  size %d\n", (int)size);
  }
  struct sockaddr_in name;
  for (char* const* place = places(4); *place != NULL; ++place)
    say("its size", getsockname(fd, (struct sockaddr*)&name, (socklen_t*)*place));
  // Nothing is written where no room is said to be.
  socklen_t none = 0;
  say("no room", getsockname(fd, (struct sockaddr*)(pages + kPage), &none));
  printf("  size %d\n", (int)none);
  say_untouched();
  close(fd);
}

static void options(void) {
  const int fd = hopped();
  for (char* const* place = places(4); *place != NULL; ++place) {
    socklen_t size = 4;
    int value = 0;
    say("index", getsockopt(fd, SOL_SOCKET, 62, *place, &size));
    say("its size", getsockopt(fd, SOL_SOCKET, 62, &value, (socklen_t*)*place));
    say("device", getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, pages, (socklen_t*)*place));
  }
  say_untouched();
  close(fd);
}

static void requests(void) {
  const int fd = hopped();
  for (char* const* place = places(sizeof(struct ifreq)); *place != NULL; ++place) {
    say("index of a device", ioctl(fd, SIOCGIFINDEX, *place));
    say("unsent bytes", ioctl(fd, SIOCATMARK, *place));
    struct ifconf list = {.ifc_len = 4 * sizeof(struct ifreq), .ifc_buf = *place};
    say("interfaces", ioctl(fd, SIOCGIFCONF, &list));
  }
  say_untouched();
  close(fd);
}

static const struct play plays[] = {
    {"names", names}, {"options", options}, {"requests", requests}, {NULL, NULL}};

int main(int argc, char** argv) {
  lay_out();
  return run_plays(plays, argc, argv);
}
