#include "core/json.h"

#include <algorithm>
#include <boost/json/src.hpp>
#include <cmath>

namespace sockhop::core {
namespace {

/// 1e999 is read as infinity, which no JSON text can say again.
bool is_finite(const boost::json::value& value) {
  if (const auto* number = value.if_double()) return std::isfinite(*number);
  if (const auto* array = value.if_array()) return std::ranges::all_of(*array, is_finite);
  if (const auto* object = value.if_object()) {
    return std::ranges::all_of(*object, [](const auto& pair) { return is_finite(pair.value()); });
  }
  return true;
}

}  // namespace

Result<boost::json::object> parse_json_object(std::string_view text, const char* what) {
  boost::json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  boost::system::error_code error;
  boost::json::value value = boost::json::parse(text, error, {}, options);
  if (error) return input_error(what, "not valid JSON: " + error.message());
  if (!value.is_object()) return input_error(what, "not a JSON object");
  if (!is_finite(value)) return input_error(what, "a number is out of range");
  return std::move(value.get_object());
}

const boost::json::value* find_member(const boost::json::object& object, std::string_view key) {
  const boost::json::value* member = object.if_contains(key);
  return member != nullptr && !member->is_null() ? member : nullptr;
}

}  // namespace sockhop::core
