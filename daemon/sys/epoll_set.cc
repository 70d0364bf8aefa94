#include "sys/epoll_set.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <ctime>
#include <functional>
#include <string_view>

#include "sys/linux_abi.h"

namespace sockhop::sys {
namespace {

constexpr std::size_t kMaxFdinfo = 1024 * 1024;

std::int64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

struct DirCloser {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

/// The numbers of a process's descriptors whose link target satisfies `wanted`.
Result<std::vector<int>> find_links(std::int32_t thread, std::int64_t budget_ns,
                                    const std::function<bool(std::string_view)>& wanted) {
  const std::string path = "/proc/" + std::to_string(thread) + "/fd";
  const std::unique_ptr<DIR, DirCloser> dir(::opendir(path.c_str()));
  if (!dir) return errno_error("opendir", path);
  const std::int64_t deadline = now_ns() + budget_ns;
  std::vector<int> found;
  int seen = 0;
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string_view name(entry->d_name);
    int number = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), number).ec != std::errc{}) continue;
    std::array<char, 64> target{};
    const ssize_t size = ::readlinkat(::dirfd(dir.get()), entry->d_name, target.data(), target.size());
    if (size > 0 && wanted({target.data(), static_cast<std::size_t>(size)})) found.push_back(number);
    if (++seen % 64 == 0 && now_ns() > deadline) return Error{ETIME, "descriptor scan", path};
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

Watched watched_by(std::int32_t thread, int set, FdRef file, int number) {
  kcmp_epoll_slot slot{static_cast<__u32>(set), static_cast<__u32>(number), 0};
  const long order = ::syscall(SYS_kcmp, ::getpid(), thread, KCMP_EPOLL_TFD, file.get(), &slot);
  if (order == 0) return Watched::yes;
  // ENOENT: the set watches nothing under this number. EBADF, EINVAL: no epoll set there.
  if (order > 0 || errno == ENOENT) return Watched::no;
  return Watched::no_such_set;
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

Result<std::vector<int>> find_socket(std::int32_t thread, std::uint64_t inode, std::int64_t budget_ns) {
  const std::string name = "socket:[" + std::to_string(inode) + "]";
  return find_links(thread, budget_ns, [&](std::string_view target) { return target == name; });
}

struct RegistrationThread::Change {
  int set;
  int socket;
  int number;
  int operation;
  epoll_event event;
};

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

Status RegistrationThread::change(const Change& change) {
  Status status;
  worker_->run([&] {
    const int number = change.number;
    self_ = move_away(self_, number);
    const auto take = [&](int fd) {
      return move_away(static_cast<int>(::syscall(SYS_pidfd_getfd, self_, fd, 0)), number);
    };
    const int set = take(change.set);
    const int socket = take(change.socket);
    epoll_event event = change.event;
    if (set < 0 || socket < 0 || ::dup2(socket, number) < 0) {
      status = errno_error("dup2");
    } else if (::epoll_ctl(set, change.operation, number, &event) < 0) {
      status = errno_error("epoll_ctl");
    }
    ::close(number);
    ::close(socket);
    ::close(set);
  });
  return status;
}

Status RegistrationThread::add(FdRef set, FdRef socket, const core::EpollRegistration& registration) {
  epoll_event event{};
  event.events = registration.events;
  event.data.u64 = registration.data;
  auto status = change({set.get(), socket.get(), registration.number, EPOLL_CTL_ADD, event});
  if (!status && status.error().code == EEXIST) return {};
  return status;
}

Status RegistrationThread::remove(FdRef set, FdRef socket, int number) {
  auto status = change({set.get(), socket.get(), number, EPOLL_CTL_DEL, {}});
  if (!status && status.error().code == ENOENT) return {};
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
  if (::epoll_ctl(set_.get(), EPOLL_CTL_ADD, copy.get(), &nothing) < 0) return errno_error("epoll_ctl");
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
  if (::epoll_ctl(set_.get(), EPOLL_CTL_MOD, file.get(), &event) < 0) return errno_error("epoll_ctl");
  return {};
}

Status WaitSet::forget(FdRef file) {
  if (::epoll_ctl(set_.get(), EPOLL_CTL_DEL, file.get(), nullptr) < 0) return errno_error("epoll_ctl");
  return {};
}

std::vector<WaitSet::Event> WaitSet::take() {
  std::array<epoll_event, 64> events{};
  const int count = ::epoll_wait(set_.get(), events.data(), static_cast<int>(events.size()), 0);
  std::vector<Event> taken;
  for (int i = 0; i < count; ++i) {
    taken.push_back({events[static_cast<std::size_t>(i)].data.u64, events[static_cast<std::size_t>(i)].events});
  }
  return taken;
}

}  // namespace sockhop::sys
