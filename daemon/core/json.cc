#include "core/json.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace sockhop::core {
namespace {

using Code = boost::system::error_code;
namespace json = boost::json;

/// Builds values as boost::json::parse does, but for numbers with a fraction or an exponent: those
/// of Boost 1.81 are off in the last digits, and what is written again would drift at each run.
class Builder {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  json::value release() { return stack_.release(); }

  bool on_document_begin(Code&) {
    stack_.reset();
    return true;
  }
  bool on_document_end(Code&) { return true; }
  bool on_object_begin(Code&) { return true; }
  bool on_array_begin(Code&) { return true; }
  bool on_object_end(std::size_t size, Code&) { return stack_.push_object(size), true; }
  bool on_array_end(std::size_t size, Code&) { return stack_.push_array(size), true; }
  bool on_key_part(json::string_view part, std::size_t, Code&) { return add(part); }
  bool on_key(json::string_view last, std::size_t, Code&) { return stack_.push_key(last), true; }
  bool on_string_part(json::string_view part, std::size_t, Code&) { return add(part); }
  bool on_string(json::string_view last, std::size_t, Code&) {
    return stack_.push_string(last), true;
  }
  bool on_number_part(json::string_view part, Code&) { return number_.append(part), true; }
  bool on_int64(std::int64_t value, json::string_view, Code&) {
    number_.clear();
    return stack_.push_int64(value), true;
  }
  bool on_uint64(std::uint64_t value, json::string_view, Code&) {
    number_.clear();
    return stack_.push_uint64(value), true;
  }
  bool on_double(double value, json::string_view last, Code&) {
    number_.append(last);
    const auto read = std::from_chars(number_.data(), number_.data() + number_.size(), value);
    if (read.ec == std::errc::result_out_of_range && std::abs(value) >= 1) {
      value = std::numeric_limits<double>::infinity();
    }
    number_.clear();
    return stack_.push_double(value), true;
  }
  bool on_bool(bool value, Code&) { return stack_.push_bool(value), true; }
  bool on_null(Code&) { return stack_.push_null(), true; }
  bool on_comment_part(json::string_view, Code&) { return true; }
  bool on_comment(json::string_view, Code&) { return true; }

 private:
  bool add(json::string_view part) { return stack_.push_chars(part), true; }
  json::value_stack stack_;
  std::string number_;
};

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
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  json::basic_parser<Builder> parser(options);
  Code error;
  const std::size_t used = parser.write_some(false, text.data(), text.size(), error);
  if (!error && used < text.size()) error = json::error::extra_data;
  if (error) return input_error(what, "not valid JSON: " + error.message());
  json::value value = parser.handler().release();
  if (!value.is_object()) return input_error(what, "not a JSON object");
  if (!is_finite(value)) return input_error(what, "a number is out of range");
  return std::move(value.get_object());
}

const boost::json::value* find_member(const boost::json::object& object, std::string_view key) {
  const boost::json::value* member = object.if_contains(key);
  return member != nullptr && !member->is_null() ? member : nullptr;
}

}  // namespace sockhop::core
