// The config.json of a container and an engine's default profile, as sockhop-runtime reads them.
#include "core/container_wishes.h"
#include "core/engine_profile.h"
#include "core/hook_state.h"
#include "require.h"

using namespace sockhop::core;
using sockhop::fuzz::as_text;
using sockhop::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto text = as_text(data, size);
  if (const auto wishes = read_wishes(text); !wishes) {
    require(!to_string(wishes.error()).empty(), "a refusal has a text");
  }
  (void)read_wishes("{}", text);
  (void)parse_hook_state(text);
  (void)listener_of(text);
  (void)docker_state_file(text, "web");
  const auto has_one = has_profile(text);
  const auto filled = put_engine_profile(text, text, "6.1.0");
  require(has_one || !filled, "what is no config takes no profile");
  if (filled) require(has_profile(*filled).value(), "then it has one");
  return 0;
}
