// The oldest kernel that sockhop runs on (SO_NETNS_COOKIE and SECCOMP_ADDFD are older or equal).
#pragma once

#include <string_view>

namespace sockhop::core {

/// `release` as uname(2) gives it: "6.1.0-13-amd64". Text that is no version counts as new enough:
/// the features themselves are probed anyway.
bool kernel_is_new_enough(std::string_view release);

}  // namespace sockhop::core
