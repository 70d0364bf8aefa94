#include "tests/support/network_namespace.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

namespace sockhop::tests {

NetworkNamespace::NetworkNamespace() {
  std::thread([this] {
    if (::unshare(CLONE_NEWNET) != 0) return;
    fd_ = UniqueFd(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  }).join();
  EXPECT_TRUE(fd_.valid()) << "unshare(CLONE_NEWNET) takes root";
  shell("ip link set lo up");
}

void NetworkNamespace::run(const std::function<void()>& work) const {
  std::thread([&] {
    ASSERT_EQ(::setns(fd_.get(), CLONE_NEWNET), 0);
    work();
  }).join();
}

void NetworkNamespace::shell(const std::string& command) const {
  run([&] { EXPECT_EQ(std::system(command.c_str()), 0) << command; });
}

std::string NetworkNamespace::path() const {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd_.get());
}

}  // namespace sockhop::tests
