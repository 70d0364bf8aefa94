// How many descriptors this process may hold.
#pragma once

#include <cstddef>

namespace sockhop::sys {

/// Raises the soft limit (RLIMIT_NOFILE) to the hard one and tells what it is now.
std::size_t raise_file_limit();

}  // namespace sockhop::sys
