// Small pieces of text that several parsers of core read.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sockhop::core {

/// A decimal number of at most `max`: digits only, the whole text, no sign, no blanks.
std::optional<std::uint32_t> parse_number(std::string_view text, std::uint32_t max);

}  // namespace sockhop::core
