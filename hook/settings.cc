#include "hook/settings.h"

#include <cerrno>

#include "sys/spawn.h"
#include "sys/text_file.h"

namespace sockhop::hook {

std::string called_as(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const auto folder = sys::own_folder();
  return (folder ? *folder : std::string(".")) + "/" + (name.empty() ? "sockhop-runtime" : name);
}

Result<core::RuntimeConfig> read_settings(const std::string& called) {
  for (const auto& path : {called + ".toml", std::string("/etc/sockhop/runtime.toml")}) {
    const auto text = sys::read_text_file(path, 1 << 20);
    if (!text && text.error().code == ENOENT) continue;
    if (!text) return text.error();
    auto config = core::parse_runtime_config(*text);
    if (!config) return Error{EINVAL, "configuration", path + ": " + config.error().detail};
    return config;
  }
  return core::RuntimeConfig();
}

}  // namespace sockhop::hook
