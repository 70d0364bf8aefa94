#include "keeper/let_run.h"

#include <array>

#include "sys/notify_check.h"
#include "sys/notify_fd.h"
#include "sys/readiness.h"
#include "sys/spawn.h"

namespace sockhop::keeper {
namespace {

constexpr int kNotify = 3;

}  // namespace

Status start_letting_run(const std::string& id, FdRef notify) {
  const auto process = sys::spawn({"/proc/self/exe", {kLetRun, id}, {notify}});
  if (!process) return process.error();
  return {};
}

int let_run() {
  const UniqueFd fd(kNotify);
  if (!sys::is_notify_fd(fd)) return 2;
  const auto notify = sys::open_notify_fd(fd, true);
  while (!sys::has_hung_up(fd)) {
    sys::wait_readable(fd);
    alignas(8) std::array<std::byte, sys::kNotificationRoom> room{};
    // A caller that is gone meanwhile needs no answer.
    if (!notify->receive(room)) continue;
    (void)notify->let_run(sys::read_notification(room).id);
  }
  return 0;
}

}  // namespace sockhop::keeper
