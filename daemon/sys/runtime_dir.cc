#include "sys/runtime_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace sockhop::sys {
namespace {

Status make_private_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return errno_error("mkdir", path);
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return errno_error("lstat", path);
  if (!S_ISDIR(found.st_mode) || found.st_uid != ::geteuid()) {
    return Error{EPERM, "runtime directory", path + " is not a directory of this user; remove it"};
  }
  if (::chmod(path.c_str(), 0700) != 0) return errno_error("chmod", path);
  return {};
}

}  // namespace

Result<RuntimeDir> find_runtime_dir() {
  const char* base = std::getenv("XDG_RUNTIME_DIR");
  if (!base || base[0] != '/') {
    return Error{ENOENT, "XDG_RUNTIME_DIR",
                 "is not set to an absolute path; log in through systemd, or do: "
                 "export XDG_RUNTIME_DIR=/run/user/" +
                     std::to_string(::geteuid())};
  }
  struct stat found {};
  if (::stat(base, &found) != 0 || !S_ISDIR(found.st_mode)) {
    return Error{ENOENT, "XDG_RUNTIME_DIR",
                 std::string(base) + " does not exist; make it: install -d -m 700 -o " +
                     std::to_string(::geteuid()) + " " + base};
  }
  return RuntimeDir{std::string(base) + "/sockhop"};
}

Result<RuntimeDir> find_engines_runtime_dir() {
  if (std::getenv("XDG_RUNTIME_DIR") != nullptr) return find_runtime_dir();
  std::ifstream map("/proc/self/uid_map");
  unsigned long inside = 0, outside = 0;
  if (!(map >> inside >> outside) || inside != 0 || outside == 0) return find_runtime_dir();
  return RuntimeDir{"/run/user/" + std::to_string(outside) + "/sockhop"};
}

std::string default_config_path() {
  const char* const base = std::getenv("XDG_CONFIG_HOME");
  if (base && base[0] == '/') return std::string(base) + "/sockhop/sockhop.toml";
  const char* const home = std::getenv("HOME");
  return home ? std::string(home) + "/.config/sockhop/sockhop.toml" : std::string();
}

Result<RuntimeDir> make_runtime_dir() {
  auto dir = find_runtime_dir();
  if (!dir) return dir;
  for (const auto& path : {dir->path, dir->sessions()}) {
    if (auto made = make_private_directory(path); !made) return made.error();
  }
  return dir;
}

Result<UniqueFd> lock_runtime_dir(const RuntimeDir& dir) {
  const std::string path = dir.path + "/lock";
  UniqueFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) return errno_error("open", path);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return Error{EBUSY, "lock", "another sockhopd serves " + dir.path + "; stop it first"};
    }
    return errno_error("flock", path);
  }
  return lock;
}

std::vector<std::string> list_session_sockets(const RuntimeDir& dir) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(dir.sessions(), ignored)) {
    if (entry.path().extension() == ".sock") found.push_back(entry.path().string());
  }
  return found;
}

}  // namespace sockhop::sys
