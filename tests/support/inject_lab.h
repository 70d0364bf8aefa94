// A container with published ports, without a container runtime: a namespace for the host, one for
// the container, one for another machine, an engine that a guard clones, and a program under a
// filter that notifies what a published server and a client call.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/policy.h"
#include "core/port_table.h"
#include "sys/session_memory.h"
#include "tests/support/network_namespace.h"

namespace sockhop::tests {

inline constexpr const char* kHostAddress = "198.51.100.1";
inline constexpr const char* kMachineAddress = "198.51.100.2";
inline constexpr const char* kHostAddress6 = "fd51::1";
inline constexpr const char* kMachineAddress6 = "fd51::2";

class InjectLab {
 public:
  /// What the program in the container and the test tell each other.
  struct Board {
    std::atomic<int> notify{-1};
    std::atomic<int> go{0};
    std::atomic<int> ready{0};
    std::atomic<int> stop{0};
    std::atomic<int> engine{0};
    std::atomic<std::uint64_t> counts[8]{};
  };
  using Program = std::function<int(Board&)>;

  /// `ports` as `sockhop register -p` reads them. `program` runs in the container under the filter.
  InjectLab(const std::vector<std::string>& ports, Program program, core::Policy policy = {});
  ~InjectLab();

  [[nodiscard]] Board& board() { return *board_; }
  [[nodiscard]] sys::SessionMemory& memory() { return *memory_; }
  [[nodiscard]] NetworkNamespace& host() { return host_; }
  [[nodiscard]] NetworkNamespace& machine() { return machine_; }
  [[nodiscard]] NetworkNamespace& container() { return container_; }
  /// Waits until the program set ready to `value`.
  [[nodiscard]] bool wait_ready(int value = 1);
  /// kill -9; the guard clones the next one.
  void kill_engine();
  /// Waits for the program's end and gives its status.
  int finish();

 private:
  void start_program(const Program& program);
  void start_guard(core::Policy policy);
  [[noreturn]] void be_guard(const core::Policy& policy, UniqueFd notify);

  NetworkNamespace host_;
  NetworkNamespace container_;
  NetworkNamespace machine_;
  Board* board_ = nullptr;
  sys::SessionMemory* memory_ = nullptr;
  std::vector<core::PublishedPort> ports_;
  std::vector<UniqueFd> endpoints_;
  int program_ = -1;
  int guard_ = -1;
};

/// Waits up to 20 s.
bool eventually(const std::function<bool()>& condition);

/// One connection: sends `text`, reads until the end. "!" and the errno's name when it fails.
std::string ask(const std::string& address, int port, const std::string& text = "hello");

}  // namespace sockhop::tests
