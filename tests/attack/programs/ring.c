// What io_uring can do with sockets of the container and of the host, where a policy allows it.
//
//   ring COUNT MACHINE PORT CLOSED_PORT LOGGER_PORT
//
// COUNT rounds against hopped sockets; then "rounds N hopped H reached R stayed S": S of two
// connections that the ring itself makes must be ordinary ones of the container.
#include <linux/io_uring.h>
#include <sys/mman.h>

#include "attack.h"

struct ring {
  int fd;
  unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
  struct io_uring_sqe* entries;
  struct io_uring_cqe* results;
};

static struct ring ring;

static void* map(size_t size, off_t what) {
  return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd, what);
}

static int open_ring(void) {
  struct io_uring_params p = {0};
  ring.fd = (int)syscall(SYS_io_uring_setup, 8, &p);
  if (ring.fd < 0) return -1;
  char* sq = map(p.sq_off.array + p.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
  char* cq = map(p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
  ring.entries = map(p.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
  ring.sq_tail = (unsigned*)(sq + p.sq_off.tail);
  ring.sq_mask = (unsigned*)(sq + p.sq_off.ring_mask);
  ring.sq_array = (unsigned*)(sq + p.sq_off.array);
  ring.cq_head = (unsigned*)(cq + p.cq_off.head);
  ring.cq_tail = (unsigned*)(cq + p.cq_off.tail);
  ring.cq_mask = (unsigned*)(cq + p.cq_off.ring_mask);
  ring.results = (struct io_uring_cqe*)(cq + p.cq_off.cqes);
  return 0;
}

static void put(struct io_uring_sqe entry) {
  const unsigned slot = *ring.sq_tail & *ring.sq_mask;
  ring.entries[slot] = entry;
  ring.sq_array[slot] = slot;
  __atomic_store_n(ring.sq_tail, *ring.sq_tail + 1, __ATOMIC_RELEASE);
}

static long take(uint64_t wanted) {
  long result = 0;
  while (__atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE) != *ring.cq_head) {
    const struct io_uring_cqe* one = &ring.results[*ring.cq_head & *ring.cq_mask];
    if (one->user_data == wanted) result = one->res;
    __atomic_store_n(ring.cq_head, *ring.cq_head + 1, __ATOMIC_RELEASE);
  }
  if (result < 0) errno = (int)-result;
  return result < 0 ? -1 : result;
}

// One request to its end, or until it took too long; the result as of a system call.
static long ask(struct io_uring_sqe entry, long patience_ms) {
  struct __kernel_timespec patience = {patience_ms / 1000, patience_ms % 1000 * 1000000};
  entry.flags = IOSQE_IO_LINK;
  entry.user_data = 1;
  put(entry);
  put((struct io_uring_sqe){.opcode = IORING_OP_LINK_TIMEOUT,
                            .addr = (uint64_t)(uintptr_t)&patience,
                            .len = 1,
                            .user_data = 2});
  if (syscall(SYS_io_uring_enter, ring.fd, 2, 2, IORING_ENTER_GETEVENTS, NULL, 0) < 0) return -1;
  return take(1);
}

static long ring_connect(int fd, const void* name, socklen_t size, long patience_ms) {
  return ask(
      (struct io_uring_sqe){
          .opcode = IORING_OP_CONNECT, .fd = fd, .addr = (uint64_t)(uintptr_t)name, .off = size},
      patience_ms);
}

static long ring_fast_open(int fd, void* name, socklen_t size) {
  struct iovec byte = {"x", 1};
  struct msghdr message = {
      .msg_name = name, .msg_namelen = size, .msg_iov = &byte, .msg_iovlen = 1};
  return ask((struct io_uring_sqe){.opcode = IORING_OP_SENDMSG,
                                   .fd = fd,
                                   .addr = (uint64_t)(uintptr_t)&message,
                                   .len = 1,
                                   .msg_flags = MSG_FASTOPEN | MSG_NOSIGNAL},
             1);
}

static long reached;

static void expect_failure(const char* what, long result) {
  if (result < 0) return;
  if (++reached < 20) fprintf(stderr, "%s got through\n", what);
}

int main(int argc, char** argv) {
  usage_unless(argc == 6, "ring COUNT MACHINE PORT CLOSED_PORT LOGGER_PORT");
  const struct sockaddr nobody = {.sa_family = AF_UNSPEC};
  struct sockaddr_in loopback = v4("127.0.0.1", atoi(argv[5]));
  const struct sockaddr_in outside = v4(argv[2], atoi(argv[3]));
  long hopped = 0, stayed = 0;
  if (open_ring() < 0) {
    perror("io_uring_setup");
    return 1;
  }
  const long count = atol(argv[1]);
  for (long i = 0; i < count; ++i) {
    const int fd = tcp_socket(AF_INET);
    connect4(fd, argv[2], atoi(argv[i % 4 == 3 ? 4 : 3]));
    hopped += !is_inside(fd);
    if (i % 2) ring_connect(fd, &nobody, sizeof nobody, 1000);
    if (i % 4 == 2) shutdown(fd, SHUT_RDWR);
    expect_failure("connect", ring_connect(fd, &loopback, sizeof loopback, 1));
    expect_failure("fast open", ring_fast_open(fd, &loopback, sizeof loopback));
    close(fd);
  }
  for (int i = 0; i < 2; ++i) {
    const int fd = tcp_socket(AF_INET);
    if (i == 1) expect_failure("own loopback", ring_connect(fd, &loopback, sizeof loopback, 10000));
    stayed += ring_connect(fd, &outside, sizeof outside, 10000) == 0 && is_inside(fd);
    close(fd);
  }
  printf("rounds %ld hopped %ld reached %ld stayed %ld\n", count, hopped, reached, stayed);
  return 0;
}
