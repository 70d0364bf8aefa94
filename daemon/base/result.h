// The one error type of the tree: a value, or the call that failed, its errno and a detail.
//
// Result is an alias of boost::system::result so that it can become std::expected once the
// compiler floor has it. Functions that fail return Result; no exception crosses a layer.
//
//   Result<UniqueFd> open_thing() {
//     const int fd = ::open(...);
//     if (fd < 0) return errno_error("open");
//     return UniqueFd(fd);
//   }
//   ...
//   auto thing = open_thing();
//   if (!thing) return thing.error();
#pragma once

#include <boost/system/result.hpp>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

namespace sockhop {

struct Error {
  // A constructor rather than an aggregate: since C++20 Error(5) would be one too, and then a
  // Result of an integer could not tell its value from an error.
  Error() = default;
  Error(int errno_value, const char* failed, std::string more = {})
      : code(errno_value), call(failed), detail(std::move(more)) {}

  /// An errno value; EINVAL where the failure is not a system call's.
  int code = EINVAL;
  /// The call or the parser that failed: a string literal.
  const char* call = "";
  /// What a person needs beyond the two; may be empty.
  std::string detail;
};

/// Tells people what failed: "call: detail: strerror".
std::string to_string(const Error& error);

/// The error of a system call that just failed; reads errno first thing.
inline Error errno_error(const char* call) { return Error{errno, call, {}}; }
inline Error errno_error(const char* call, std::string detail) {
  const int code = errno;
  return Error{code, call, std::move(detail)};
}
/// The error of refused input.
inline Error input_error(const char* call, std::string detail) {
  return Error{EINVAL, call, std::move(detail)};
}

[[noreturn]] void throw_exception_from_error(const Error& error,
                                             const boost::source_location& where);

template <class T>
using Result = boost::system::result<T, Error>;

/// Success without a value.
using Status = Result<void>;

}  // namespace sockhop
