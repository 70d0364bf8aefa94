// Versions of kernels and programs, and the oldest kernel that sockhop runs on (SO_NETNS_COOKIE and
// SECCOMP_ADDFD are older or equal).
#pragma once

#include <optional>
#include <string_view>
#include <utility>

namespace sockhop::core {

/// `release` as uname(2) gives it: "6.1.0-13-amd64". Text that is no version counts as new enough:
/// the features themselves are probed anyway.
bool kernel_is_new_enough(std::string_view release);

/// Major and minor of "1.1.5+ds1-1" or "6.1.0-13-amd64"; nothing for other text.
std::optional<std::pair<int, int>> parse_version(std::string_view text);
/// False for text that is no version.
bool version_at_least(std::string_view text, int major, int minor);

}  // namespace sockhop::core
