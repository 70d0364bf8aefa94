#include "core/text.h"

#include <charconv>
#include <system_error>

namespace sockhop::core {

std::optional<std::uint32_t> parse_number(std::string_view text, std::uint32_t max) {
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number > max) return std::nullopt;
  return number;
}

}  // namespace sockhop::core
