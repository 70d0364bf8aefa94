// Kernel constants that Debian 12's headers lack, each with the version that brought it.
#pragma once

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71  // 5.14
#endif
#ifndef SO_BUF_LOCK
#define SO_BUF_LOCK 72  // 5.14
#endif
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77  // 6.5
#endif
#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL  // 6.9
#endif
#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)  // 6.6
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)  // 6.6
#endif
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)  // 5.19
#endif
/// PROCMAP_QUERY of linux/fs.h, 6.11.
struct ProcmapQuery {
  __u64 size;
  __u64 query_flags;
  __u64 query_addr;
  __u64 vma_start;
  __u64 vma_end;
  __u64 vma_flags;
  __u64 vma_page_size;
  __u64 vma_offset;
  __u64 inode;
  __u32 dev_major;
  __u32 dev_minor;
  __u32 vma_name_size;
  __u32 build_id_size;
  __u64 vma_name_addr;
  __u64 build_id_addr;
};
inline constexpr unsigned long kProcmapQuery = _IOWR('f', 17, ProcmapQuery);
inline constexpr __u64 kProcmapWritable = 0x02;
inline constexpr __u64 kProcmapCoveringOrNext = 0x10;

#ifndef SO_TXREHASH
#define SO_TXREHASH 74  // 5.18
#endif
#ifndef SO_RCVMARK
#define SO_RCVMARK 75  // 5.19
#endif
#ifndef SO_RCVPRIORITY
#define SO_RCVPRIORITY 82  // 6.14
#endif
#ifndef TCP_RTO_MAX_MS
#define TCP_RTO_MAX_MS 44  // 6.15
#endif
#ifndef TCP_RTO_MIN_US
#define TCP_RTO_MIN_US 45  // 6.16
#endif
#ifndef TCP_DELACK_MAX_US
#define TCP_DELACK_MAX_US 46  // 6.16
#endif
#ifndef IP_LOCAL_PORT_RANGE
#define IP_LOCAL_PORT_RANGE 51  // 6.3
#endif

// The structures that cross the boundary, as the kernel's ABI fixes them.
static_assert(sizeof(struct seccomp_data) == 64);
static_assert(sizeof(struct seccomp_notif) == 80);
static_assert(sizeof(struct seccomp_notif_resp) == 24);
static_assert(sizeof(struct seccomp_notif_addfd) == 24);
static_assert(sizeof(ProcmapQuery) == 104);
