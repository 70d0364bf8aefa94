#include "core/kernel_version.h"

#include <charconv>
#include <utility>

namespace sockhop::core {
namespace {

constexpr std::pair<int, int> kOldest{5, 14};

}  // namespace

bool kernel_is_new_enough(std::string_view release) {
  std::pair<int, int> version{0, 0};
  const char* const end = release.data() + release.size();
  const auto major = std::from_chars(release.data(), end, version.first);
  if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') return true;
  if (std::from_chars(major.ptr + 1, end, version.second).ec != std::errc{}) return true;
  return version >= kOldest;
}

}  // namespace sockhop::core
