// What a fuzzer expects of the code under it; a broken expectation ends the run like a crash.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace sockhop::fuzz {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

inline std::string_view as_text(const unsigned char* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace sockhop::fuzz
