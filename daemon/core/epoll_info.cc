#include "core/epoll_info.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace sockhop::core {
namespace {

template <class T>
std::optional<T> value_after(std::string_view line, std::string_view key, int base) {
  const auto at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + key.size());
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  T value{};
  if (std::from_chars(line.data(), line.data() + line.size(), value, base).ec != std::errc{}) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::vector<EpollRegistration> parse_epoll_info(std::string_view text) {
  std::vector<EpollRegistration> all;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto number = value_after<int>(line, "tfd:", 10);
    const auto events = value_after<std::uint32_t>(line, "events:", 16);
    const auto data = value_after<std::uint64_t>(line, "data:", 16);
    if (number && events && data) all.push_back({*number, *events, *data});
  }
  return all;
}

const EpollRegistration* find_number(const std::vector<EpollRegistration>& all, int number) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [number](const auto& one) { return one.number == number; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace sockhop::core
