// A descriptor with exactly one owner, closed when the owner goes.
#pragma once

#include <utility>

namespace sockhop {

class UniqueFd {
 public:
  UniqueFd() = default;
  /// Takes ownership of `fd`; negative means empty.
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    UniqueFd(std::move(other)).swap(*this);
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  /// The number, still owned here; -1 when empty.
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  explicit operator bool() const { return valid(); }

  /// Gives the number away; the caller must close it.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  void reset();
  void swap(UniqueFd& other) noexcept { std::swap(fd_, other.fd_); }

 private:
  int fd_ = -1;
};

/// A descriptor that somebody else owns and keeps open for the duration of the call it is passed
/// to.
class FdRef {
 public:
  FdRef(const UniqueFd& owner) : fd_(owner.get()) {}  // NOLINT(google-explicit-constructor)
  /// For numbers that live in shared memory (call slots) or belong to another process.
  static FdRef from_number(int fd) { return FdRef(fd); }
  [[nodiscard]] int get() const { return fd_; }

 private:
  explicit FdRef(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace sockhop
