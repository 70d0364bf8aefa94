#include "sys/notify_fd.h"

#include <algorithm>
#include <cstring>

#include "sys/linux_abi.h"

namespace sockhop::sys {
namespace {

class KernelNotifyFd final : public NotifyFd {
 public:
  explicit KernelNotifyFd(FdRef fd) : fd_(fd) {}

  Status receive(std::span<std::byte> room) override {
    // The kernel refuses a struct that is not zero (EINVAL).
    std::fill(room.begin(), room.end(), std::byte{0});
    if (::ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_RECV, room.data()) < 0)
      return errno_error("NOTIF_RECV");
    return {};
  }

  bool still_waiting(std::uint64_t id) override {
    return ::ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
  }

  Status answer(std::uint64_t id, std::int64_t value, int error) override {
    return send({id, error > 0 ? 0 : value, -error, 0});
  }

  Status let_run(std::uint64_t id) override {
    return send({id, 0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE});
  }

  Result<int> install(std::uint64_t id, FdRef source, const int* target,
                      bool close_on_exec) override {
    seccomp_notif_addfd request{};
    request.id = id;
    request.srcfd = static_cast<__u32>(source.get());
    if (target != nullptr) {
      request.flags = SECCOMP_ADDFD_FLAG_SETFD;
      request.newfd = static_cast<__u32>(*target);
    }
    request.newfd_flags = close_on_exec ? O_CLOEXEC : 0;
    const int number = ::ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_ADDFD, &request);
    if (number < 0) return errno_error("NOTIF_ADDFD");
    return number;
  }

 private:
  Status send(seccomp_notif_resp response) {
    if (::ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_SEND, &response) < 0)
      return errno_error("NOTIF_SEND");
    return {};
  }

  FdRef fd_;
};

}  // namespace

Notification read_notification(std::span<const std::byte> room) {
  seccomp_notif raw{};
  std::memcpy(&raw, room.data(), sizeof raw);
  Notification notification{.id = raw.id, .thread = static_cast<std::int32_t>(raw.pid), .call = {}};
  notification.call.number = raw.data.nr;
  notification.call.arch = raw.data.arch;
  std::copy(std::begin(raw.data.args), std::end(raw.data.args), notification.call.args.begin());
  return notification;
}

std::unique_ptr<NotifyFd> open_notify_fd(FdRef fd, bool sync_wake_up) {
  // Absent before 6.6: then the answer wakes the caller on another core, and that is all.
  if (sync_wake_up) {
    ::ioctl(fd.get(), SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP, 0);
  }
  return std::make_unique<KernelNotifyFd>(fd);
}

}  // namespace sockhop::sys
