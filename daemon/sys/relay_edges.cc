#include "sys/relay_edges.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>

namespace sockhop::sys {

Result<EdgeSet> EdgeSet::open() {
  UniqueFd set(::epoll_create1(EPOLL_CLOEXEC));
  if (!set) return errno_error("epoll_create1");
  return EdgeSet(std::move(set));
}

Status EdgeSet::watch(FdRef file, std::uint32_t events, std::uint64_t key) {
  epoll_event event{};
  event.events = events | EPOLLET;
  event.data.u64 = key;
  if (::epoll_ctl(set_.get(), EPOLL_CTL_ADD, file.get(), &event) == 0) return {};
  if (errno != EEXIST) return errno_error("epoll_ctl");
  if (::epoll_ctl(set_.get(), EPOLL_CTL_MOD, file.get(), &event) < 0) {
    return errno_error("epoll_ctl");
  }
  return {};
}

Status EdgeSet::forget(FdRef file) {
  if (::epoll_ctl(set_.get(), EPOLL_CTL_DEL, file.get(), nullptr) < 0) {
    return errno_error("epoll_ctl");
  }
  return {};
}

std::vector<EdgeSet::Event> EdgeSet::take(int timeout_ms) {
  std::array<epoll_event, 64> events{};
  const int count =
      ::epoll_wait(set_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  std::vector<Event> taken;
  for (int i = 0; i < count; ++i) {
    const auto& event = events[static_cast<std::size_t>(i)];
    taken.push_back({event.data.u64, event.events});
  }
  return taken;
}

Result<Doorbell> Doorbell::open() {
  UniqueFd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd) return errno_error("eventfd");
  return Doorbell(std::move(fd));
}

void Doorbell::ring() {
  const std::uint64_t one = 1;
  (void)!::write(fd_.get(), &one, sizeof one);
}

void Doorbell::clear() {
  std::uint64_t count = 0;
  (void)!::read(fd_.get(), &count, sizeof count);
}

}  // namespace sockhop::sys
