// The config.json of a container, as an engine or a person wrote it.
#include "core/profile.h"
#include "require.h"

using namespace sockhop::core;
using sockhop::fuzz::as_text;
using sockhop::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  ProfileOptions options;
  options.listener_path = "/run/user/1000/sockhop/seccomp.sock";
  const auto once = apply_profile(as_text(data, size), options);
  if (!once) {
    require(!to_string(once.error()).empty(), "a refusal has a text");
    return 0;
  }
  const auto twice = apply_profile(*once, options);
  require(twice.has_value(), "our own answer is accepted");
  require(*twice == *once, "a second run changes nothing");
  return 0;
}
