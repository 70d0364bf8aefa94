// A network namespace of a test's own: nothing in it, nothing left of it afterwards.
#pragma once

#include <functional>
#include <string>

#include "base/unique_fd.h"

namespace sockhop::tests {

class NetworkNamespace {
 public:
  /// Needs root; loopback is up. Fails the test when it cannot be made.
  NetworkNamespace();

  /// Runs `work` on a thread inside and waits for it.
  void run(const std::function<void()>& work) const;
  /// A shell command inside; fails the test when it fails.
  void shell(const std::string& command) const;
  /// For `ip link set DEVICE netns PATH`.
  [[nodiscard]] std::string path() const;
  [[nodiscard]] FdRef fd() const { return fd_; }

 private:
  UniqueFd fd_;
};

}  // namespace sockhop::tests
