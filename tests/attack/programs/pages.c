// Memory that changes, or that nobody serves, under the calls that look at it.
//
//   pages mprotect|fault COUNT MACHINE PORT
//
//   mprotect  a thread takes the page's rights away and gives them back while COUNT connects,
//             getsockname and ioctl calls use it: each gives what it asked for, or EFAULT
//   fault     the page is registered with userfaultfd and nobody serves it: EFAULT, as in the
//             kernel's own copy, 77 where the kernel has no userfaultfd for us
#include <linux/userfaultfd.h>
#include <net/if.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "attack.h"

static char* page;
static volatile int over;

static void* change(void* unused) {
  for (unsigned i = 0; !over; ++i) {
    mprotect(page, 4096, i % 3 == 0 ? PROT_NONE : i % 3 == 1 ? PROT_READ : PROT_READ | PROT_WRITE);
    if (i % 64 == 0) usleep(50);
  }
  return unused;
}

static long other;

static void expect(long result, int allowed) {
  if (result < 0 && errno != EFAULT && errno != allowed) {
    if (++other < 20) perror("unexpected");
  }
}

static int look_at(const char* machine, int port, long count) {
  long hopped = 0, faults = 0;
  pthread_t thread;
  struct sockaddr_in* name = (struct sockaddr_in*)page;
  *name = v4(machine, port);
  pthread_create(&thread, NULL, change, NULL);
  for (long i = 0; i < count; ++i) {
    const int fd = tcp_socket(AF_INET);
    const long result = do_connect(fd, name, sizeof *name);
    faults += result < 0 && errno == EFAULT;
    expect(result, 0);
    hopped += !is_inside(fd);
    // What is written lies beyond the name.
    expect(syscall(SYS_getsockname, fd, page + 256, page + 512), EINVAL);
    expect(ioctl(fd, SIOCGIFCONF, page + 600), 0);
    close(fd);
  }
  over = 1;
  pthread_join(thread, NULL);
  printf("hopped %ld faults %ld other %ld\n", hopped, faults, other);
  return 0;
}

static int register_page(void) {
  const int fd = (int)syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY);
  struct uffdio_api api = {.api = UFFD_API};
  struct uffdio_register range = {.range = {(uint64_t)(uintptr_t)page, 4096},
                                  .mode = UFFDIO_REGISTER_MODE_MISSING};
  madvise(page, 4096, MADV_DONTNEED);
  return fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &range) < 0;
}

static int never_served(const char* machine, int port, long count) {
  if (register_page()) return 77;
  long faults = 0, hopped = 0;
  struct sockaddr_in name = v4(machine, port);
  for (long i = 0; i < count; ++i) {
    const int fd = tcp_socket(AF_INET);
    faults += do_connect(fd, page, 16) < 0 && errno == EFAULT;
    do_connect(fd, &name, sizeof name);
    hopped += !is_inside(fd);
    faults += syscall(SYS_getsockname, fd, page, page + 512) < 0 && errno == EFAULT;
    close(fd);
  }
  printf("hopped %ld faults %ld other 0\n", hopped, faults);
  return 0;
}

int main(int argc, char** argv) {
  usage_unless(argc == 5, "pages mprotect|fault COUNT MACHINE PORT");
  page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const long count = atol(argv[2]);
  if (strcmp(argv[1], "mprotect") == 0) return look_at(argv[3], atoi(argv[4]), count);
  return never_served(argv[3], atoi(argv[4]), count);
}
