#include "sys/epoll_set.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <functional>
#include <string_view>

#include "sys/clock.h"
#include "sys/linux_abi.h"

namespace sockhop::sys {
namespace {

constexpr std::size_t kMaxFdinfo = 1024 * 1024;

struct DirCloser {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

/// The numbers of a process's descriptors whose link target satisfies `wanted`.
Result<std::vector<int>> find_links(std::int32_t thread, std::int64_t budget_ns,
                                    const std::function<bool(std::string_view)>& wanted) {
  const std::string path = "/proc/" + std::to_string(thread) + "/fd";
  const std::unique_ptr<DIR, DirCloser> dir(::opendir(path.c_str()));
  if (!dir) return errno_error("opendir", path);
  const std::int64_t deadline = monotonic_ns() + budget_ns;
  std::vector<int> found;
  int seen = 0;
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string_view name(entry->d_name);
    int number = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), number).ec != std::errc{}) continue;
    std::array<char, 64> target{};
    const ssize_t size =
        ::readlinkat(::dirfd(dir.get()), entry->d_name, target.data(), target.size());
    if (size > 0 && wanted({target.data(), static_cast<std::size_t>(size)}))
      found.push_back(number);
    if (++seen % 64 == 0 && monotonic_ns() > deadline) return Error{ETIME, "descriptor scan", path};
  }
  return found;
}

/// Frees `number` in the calling thread's table by moving `fd` when it sits there.
int move_away(int fd, int number) {
  if (fd != number) return fd;
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, number + 1);
  ::close(fd);
  return moved;
}

}  // namespace

EpollWatch watched_by(std::int32_t thread, int set, FdRef file, int number) {
  kcmp_epoll_slot slot{static_cast<__u32>(set), static_cast<__u32>(number), 0};
  const long order = ::syscall(SYS_kcmp, ::getpid(), thread, KCMP_EPOLL_TFD, file.get(), &slot);
  if (order == 0) return EpollWatch::yes;
  // ENOENT: the set watches nothing under this number. EBADF, EINVAL: no epoll set there.
  if (order > 0 || errno == ENOENT) return EpollWatch::no;
  return EpollWatch::no_such_set;
}

Result<std::string> read_fdinfo(std::int32_t thread, int number) {
  const std::string path = "/proc/" + std::to_string(thread) + "/fdinfo/" + std::to_string(number);
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return errno_error("open", path);
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t size = ::read(file.get(), part.data(), part.size());
    if (size < 0) return errno_error("read", path);
    if (size == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(size));
    if (text.size() > kMaxFdinfo) return Error{E2BIG, "fdinfo", path};
  }
}

Result<std::vector<int>> find_epoll_sets(std::int32_t thread, std::int64_t budget_ns) {
  return find_links(thread, budget_ns,
                    [](std::string_view target) { return target == "anon_inode:[eventpoll]"; });
}

Result<std::vector<int>> find_socket(std::int32_t thread, std::uint64_t inode,
                                     std::int64_t budget_ns) {
  const std::string name = "socket:[" + std::to_string(inode) + "]";
  return find_links(thread, budget_ns, [&](std::string_view target) { return target == name; });
}

Result<std::unique_ptr<RegistrationThread>> RegistrationThread::start() {
  std::unique_ptr<RegistrationThread> self(new RegistrationThread);
  auto worker = WorkerThread::start([&self]() -> Status {
    if (::close_range(0, ~0U, CLOSE_RANGE_UNSHARE) < 0) return errno_error("close_range");
    const long fd = ::syscall(SYS_pidfd_open, ::getpid(), 0);
    if (fd < 0) return errno_error("pidfd_open");
    self->self_ = static_cast<int>(fd);
    return {};
  });
  if (!worker) return worker.error();
  self->worker_ = std::move(*worker);
  return self;
}

Status RegistrationThread::change_there(int set, int from, int to,
                                        const core::EpollRegistration& registration) {
  const int number = registration.number;
  self_ = move_away(self_, number);
  // Descriptors come over by number from the loop's table, and must leave `number` free.
  const auto take = [&](int fd) {
    if (fd < 0) return UniqueFd();
    return UniqueFd(move_away(static_cast<int>(::syscall(SYS_pidfd_getfd, self_, fd, 0)), number));
  };
  const UniqueFd sets = take(set);
  const UniqueFd old = take(from);
  const UniqueFd fresh = take(to);
  epoll_event event{};
  event.events = registration.events;
  event.data.u64 = registration.data;
  if (old && ::dup2(old.get(), number) == number) {
    ::epoll_ctl(sets.get(), EPOLL_CTL_DEL, number, nullptr);
    ::close(number);
  }
  if (!fresh) return {};
  if (::dup2(fresh.get(), number) < 0) return errno_error("dup2");
  const int added = ::epoll_ctl(sets.get(), EPOLL_CTL_ADD, number, &event);
  const int error = errno;
  ::close(number);
  if (added < 0 && error != EEXIST) return Error{error, "epoll_ctl", {}};
  return {};
}

Status RegistrationThread::add(FdRef set, FdRef socket,
                               const core::EpollRegistration& registration) {
  Status status;
  worker_->run([&] { status = change_there(set.get(), -1, socket.get(), registration); });
  return status;
}

Status RegistrationThread::move(FdRef set, FdRef from, FdRef to,
                                const core::EpollRegistration& registration) {
  Status status;
  worker_->run([&] { status = change_there(set.get(), from.get(), to.get(), registration); });
  return status;
}

Result<LastReference> LastReference::open() {
  UniqueFd set(::epoll_create1(EPOLL_CLOEXEC));
  if (!set) return errno_error("epoll_create1");
  const std::string path = "/proc/self/fdinfo/" + std::to_string(set.get());
  UniqueFd info(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!info) return errno_error("open", path);
  return LastReference(std::move(set), std::move(info));
}

Status LastReference::watch(FdRef copy) {
  epoll_event nothing{};
  if (::epoll_ctl(set_.get(), EPOLL_CTL_ADD, copy.get(), &nothing) < 0)
    return errno_error("epoll_ctl");
  return {};
}

bool LastReference::gone() {
  std::array<char, 512> text{};
  const ssize_t size = ::pread(info_.get(), text.data(), text.size(), 0);
  if (size < 0) return false;
  return std::string_view(text.data(), static_cast<std::size_t>(size)).find("tfd:") ==
         std::string_view::npos;
}

Result<WaitSet> WaitSet::open() {
  UniqueFd set(::epoll_create1(EPOLL_CLOEXEC));
  if (!set) return errno_error("epoll_create1");
  return WaitSet(std::move(set));
}

Status WaitSet::watch(FdRef file, std::uint32_t events, std::uint64_t key) {
  epoll_event event{};
  event.events = events | EPOLLONESHOT;
  event.data.u64 = key;
  if (::epoll_ctl(set_.get(), EPOLL_CTL_ADD, file.get(), &event) == 0) return {};
  if (errno != EEXIST) return errno_error("epoll_ctl");
  if (::epoll_ctl(set_.get(), EPOLL_CTL_MOD, file.get(), &event) < 0)
    return errno_error("epoll_ctl");
  return {};
}

Status WaitSet::forget(FdRef file) {
  if (::epoll_ctl(set_.get(), EPOLL_CTL_DEL, file.get(), nullptr) < 0)
    return errno_error("epoll_ctl");
  return {};
}

std::vector<WaitSet::Event> WaitSet::take() {
  std::array<epoll_event, 64> events{};
  const int count = ::epoll_wait(set_.get(), events.data(), static_cast<int>(events.size()), 0);
  std::vector<Event> taken;
  for (int i = 0; i < count; ++i) {
    taken.push_back(
        {events[static_cast<std::size_t>(i)].data.u64, events[static_cast<std::size_t>(i)].events});
  }
  return taken;
}

}  // namespace sockhop::sys
