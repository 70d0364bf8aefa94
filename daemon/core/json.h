// Boost.JSON as core uses it: outside text, bounded in depth, errors as values.
//
// The library is compiled here, in json.cc only (header-only use); no shared object is linked.
#pragma once

#include <boost/json.hpp>
#include <string_view>

#include "base/result.h"

namespace sockhop::core {

/// Nesting that any text from outside may have; OCI documents need about ten.
inline constexpr std::size_t kMaxJsonDepth = 64;

/// Parses one whole document. `what` names it in the error: a string literal.
Result<boost::json::object> parse_json_object(std::string_view text, const char* what);

/// The member `key`, or nullptr when it is missing or null: the runtimes write both for "none".
const boost::json::value* find_member(const boost::json::object& object, std::string_view key);

}  // namespace sockhop::core
