// Edge-triggered interest in files that others may own: each change is told once, nothing is held.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace sockhop::sys {

class EdgeSet {
 public:
  static Result<EdgeSet> open();
  [[nodiscard]] FdRef fd() const { return set_; }
  /// Tells every new event of `file`, and at once what is there already. A second call for the same
  /// number and file changes the key.
  Status watch(FdRef file, std::uint32_t events, std::uint64_t key);
  Status forget(FdRef file);

  struct Event {
    std::uint64_t key;
    std::uint32_t events;
  };
  /// Waits up to `timeout_ms` (-1: for ever); at most 64 events.
  std::vector<Event> take(int timeout_ms);

 private:
  explicit EdgeSet(UniqueFd set) : set_(std::move(set)) {}
  UniqueFd set_;
};

/// An eventfd: rung by one thread, heard by another.
class Doorbell {
 public:
  static Result<Doorbell> open();
  [[nodiscard]] FdRef fd() const { return fd_; }
  void ring();
  void clear();

 private:
  explicit Doorbell(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace sockhop::sys
