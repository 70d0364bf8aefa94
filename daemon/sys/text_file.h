// Reading and replacing whole files of text.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "base/result.h"

namespace sockhop::sys {

/// EFBIG when the file is longer than `limit` bytes.
Result<std::string> read_text_file(const std::string& path, std::size_t limit = 16 << 20);

/// Standard input to its end; ETIMEDOUT when that does not come within `patience`.
Result<std::string> read_input(std::chrono::milliseconds patience, std::size_t limit = 16 << 20);

/// Written beside and renamed, so that a full disk never leaves half a file; keeps the mode.
Status replace_text_file(const std::string& path, const std::string& text);

/// Adds to the end of a file, which is made when missing (mode 0644).
Status append_text(const std::string& path, const std::string& text);

}  // namespace sockhop::sys
