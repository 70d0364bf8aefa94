#include "base/result.h"

#include <cstdlib>
#include <cstring>

namespace sockhop {

std::string to_string(const Error& error) {
  std::string text = error.call;
  if (!error.detail.empty()) text += text.empty() ? error.detail : ": " + error.detail;
  // EINVAL with a detail is refused input: the detail says more than "Invalid argument".
  if (error.code != EINVAL || error.detail.empty()) {
    text += ": ";
    text += std::strerror(error.code);
  }
  return text;
}

// boost::system::result calls this when value() is taken of an error: a bug of ours, never input.
void throw_exception_from_error(const Error&, const boost::source_location&) { std::abort(); }

}  // namespace sockhop
