#include "core/sandbox_config.h"

#include <sstream>

#include "core/json.h"

namespace sockhop::core {
namespace json = boost::json;

namespace {

json::array strings(const std::vector<std::string>& all) {
  json::array out;
  for (const auto& one : all) out.emplace_back(one);
  return out;
}

json::value capabilities() {
  const json::array set{"CAP_AUDIT_WRITE", "CAP_CHOWN",  "CAP_DAC_OVERRIDE", "CAP_FOWNER",
                        "CAP_FSETID",      "CAP_KILL",   "CAP_MKNOD",        "CAP_NET_BIND_SERVICE",
                        "CAP_SETFCAP",     "CAP_SETGID", "CAP_SETPCAP",      "CAP_SETUID",
                        "CAP_SYS_CHROOT"};
  return {{"bounding", set}, {"effective", set}, {"permitted", set}};
}

json::value mount(const char* where, const char* type, const std::string& source,
                  const std::vector<std::string>& options) {
  return {
      {"destination", where}, {"type", type}, {"source", source}, {"options", strings(options)}};
}

json::array mounts(const SandboxOptions& options) {
  json::array out{
      mount("/proc", "proc", "proc", {"nosuid", "noexec", "nodev"}),
      mount("/dev", "tmpfs", "tmpfs", {"nosuid", "strictatime", "mode=755", "size=65536k"}),
      mount("/dev/pts", "devpts", "devpts",
            {"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"}),
      mount("/dev/shm", "tmpfs", "shm", {"nosuid", "noexec", "nodev", "mode=1777", "size=65536k"}),
      mount("/dev/mqueue", "mqueue", "mqueue", {"nosuid", "noexec", "nodev"}),
      mount("/sys", "sysfs", "sysfs", {"nosuid", "noexec", "nodev", "ro"})};
  if (!options.resolv_conf.empty()) {
    out.push_back(mount("/etc/resolv.conf", "bind", options.resolv_conf, {"bind", "ro"}));
  }
  return out;
}

json::object linux_part() {
  json::array namespaces;
  for (const char* type : {"pid", "ipc", "uts", "mount"})
    namespaces.push_back(json::object{{"type", type}});
  return {{"namespaces", std::move(namespaces)},
          {"maskedPaths", json::array{"/proc/kcore", "/proc/keys", "/proc/sysrq-trigger",
                                      "/proc/timer_list", "/sys/firmware"}},
          {"readonlyPaths", json::array{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys"}}};
}

}  // namespace

std::string sandbox_config(const SandboxOptions& options) {
  json::object annotations;
  for (const auto& [key, value] : options.annotations) annotations[key] = value;
  const json::object process{{"terminal", options.terminal},
                             {"user", {{"uid", 0}, {"gid", 0}}},
                             {"args", strings(options.command)},
                             {"env", strings(options.environment)},
                             {"cwd", options.folder},
                             {"capabilities", capabilities()},
                             {"noNewPrivileges", true}};
  return json::serialize(json::object{{"ociVersion", "1.0.2"},
                                      {"process", process},
                                      {"root", {{"path", options.root}, {"readonly", false}}},
                                      {"hostname", "sandbox"},
                                      {"mounts", mounts(options)},
                                      {"annotations", annotations},
                                      {"linux", linux_part()}});
}

SubIds sub_ids_of(const std::string& file_text, const std::string& name,
                  const std::string& number) {
  std::istringstream lines(file_text);
  std::string line;
  while (std::getline(lines, line)) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string who = line.substr(0, colon);
    if (who != name && who != number) continue;
    std::istringstream numbers(line.substr(colon + 1));
    SubIds ids;
    char between = 0;
    if (numbers >> ids.first >> between >> ids.count && between == ':') return ids;
  }
  return {};
}

}  // namespace sockhop::core
