#include "core/json.h"

#include <boost/json/src.hpp>

namespace sockhop::core {

Result<boost::json::object> parse_json_object(std::string_view text, const char* what) {
  boost::json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  boost::system::error_code error;
  boost::json::value value = boost::json::parse(text, error, {}, options);
  if (error) return input_error(what, "not valid JSON: " + error.message());
  if (!value.is_object()) return input_error(what, "not a JSON object");
  return std::move(value.get_object());
}

const boost::json::value* find_member(const boost::json::object& object, std::string_view key) {
  const boost::json::value* member = object.if_contains(key);
  return member != nullptr && !member->is_null() ? member : nullptr;
}

}  // namespace sockhop::core
