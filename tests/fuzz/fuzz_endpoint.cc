// Endpoints as people write them: `sockhop explain CONTAINER ADDR:PORT`.
#include "core/endpoint.h"
#include "require.h"

using namespace sockhop::core;
using sockhop::fuzz::as_text;
using sockhop::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto parsed = parse_endpoint(as_text(data, size));
  if (!parsed) {
    require(!to_string(parsed.error()).empty(), "a refusal has a text");
    return 0;
  }
  const auto again = parse_endpoint(to_string(*parsed));
  require(again.has_value() && to_string(*again) == to_string(*parsed),
          "what is printed reads back");
  return 0;
}
