#include "core/kernel_version.h"

#include <charconv>

namespace sockhop::core {
namespace {

constexpr std::pair<int, int> kOldest{5, 14};

}  // namespace

std::optional<std::pair<int, int>> parse_version(std::string_view text) {
  std::pair<int, int> version{0, 0};
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.first);
  if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') return std::nullopt;
  if (std::from_chars(major.ptr + 1, end, version.second).ec != std::errc{}) return std::nullopt;
  return version;
}

bool version_at_least(std::string_view text, int major, int minor) {
  const auto version = parse_version(text);
  return version && *version >= std::pair{major, minor};
}

bool kernel_is_new_enough(std::string_view release) {
  const auto version = parse_version(release);
  return !version || *version >= kOldest;
}

}  // namespace sockhop::core
