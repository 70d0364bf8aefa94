#include "hook/default_profile.h"

#include <vector>

#include "core/engine_profile.h"
#include "sys/kernel_probe.h"
#include "sys/spawn.h"
#include "sys/text_file.h"

namespace sockhop::hook {
namespace {

/// In the order in which Podman looks, then ours.
std::vector<std::string> candidates() {
  std::vector<std::string> out{"/etc/containers/seccomp.json",
                               "/usr/share/containers/seccomp.json"};
  if (auto own = sys::find_shared_file("seccomp.json")) out.push_back(*own);
  return out;
}

Result<std::string> read_first() {
  for (const auto& path : candidates()) {
    auto text = sys::read_text_file(path);
    if (text || text.error().code != ENOENT) return text;
  }
  return Error{ENOENT, "default profile",
               "the container has no seccomp profile and no default one is installed; name one: "
               "default-profile in runtime.toml"};
}

}  // namespace

Result<std::string> put_default_profile(const std::string& config, const std::string& wanted) {
  if (wanted == "none") return config;
  const auto profile = wanted.empty() ? read_first() : sys::read_text_file(wanted);
  if (!profile) return profile.error();
  return core::put_engine_profile(config, *profile, sys::kernel_release());
}

}  // namespace sockhop::hook
