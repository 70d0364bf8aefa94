#include "cli/run.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "cli/sandbox_network.h"
#include "core/policy.h"
#include "core/port_table.h"
#include "core/sandbox_config.h"
#include "sys/runtime_dir.h"
#include "sys/sandbox.h"
#include "sys/spawn.h"
#include "sys/text_file.h"

namespace sockhop::cli {
namespace {

namespace fs = std::filesystem;

ExitStatus say(const Error& error, ExitStatus status) {
  std::fprintf(stderr, "sockhop: %s\n", to_string(error).c_str());
  return status;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : ",") + word;
  return out;
}

Status check(const RunOptions& options) {
  for (const auto& port : options.ports) {
    if (auto read = core::parse_published_port(port); !read) return read.error();
  }
  for (const auto& rule : options.rules) {
    if (auto read = core::parse_rule(rule); !read) return read.error();
  }
  if (options.rootfs.empty() == options.bind.empty()) {
    return input_error("run", "say --rootfs DIR or --bind /, one of them");
  }
  if (!options.bind.empty() && options.bind != "/") {
    return input_error("run", "--bind takes / only; a folder with a whole system is --rootfs");
  }
  std::error_code error;
  if (!options.rootfs.empty() && !fs::is_directory(options.rootfs, error)) {
    return Error{ENOENT, "--rootfs", options.rootfs + " is no folder that can be read"};
  }
  return {};
}

/// Where the bundle is; taken away with everything in it.
class Bundle {
 public:
  static Result<Bundle> make() {
    const auto dir = sys::find_runtime_dir();
    if (!dir) return dir.error();
    const std::string name = "run-" + std::to_string(getpid());
    const fs::path path = fs::path(dir->path).parent_path() / ("sockhop-" + name);
    std::error_code error;
    fs::remove_all(path, error);  // of a process that had our number and was killed
    fs::create_directories(path / "rootfs", error);
    if (error) return Error{error.value(), "mkdir", path.string()};
    fs::permissions(path, fs::perms::owner_all, error);
    return Bundle(path.string(), name);
  }
  Bundle(Bundle&& other) noexcept : path(std::move(other.path)), name(std::move(other.name)) {
    other.path.clear();
  }
  Bundle(const Bundle&) = delete;
  Bundle& operator=(const Bundle&) = delete;
  Bundle& operator=(Bundle&&) = delete;
  ~Bundle() {
    std::error_code ignored;
    if (!path.empty()) fs::remove_all(path, ignored);
  }

  std::string path;
  std::string name;  // of the container

 private:
  Bundle(std::string where, std::string id) : path(std::move(where)), name(std::move(id)) {}
};

std::vector<std::string> own_environment() {
  std::vector<std::string> out;
  for (char** each = environ; *each != nullptr; ++each) out.emplace_back(*each);
  return out;
}

std::vector<std::string> plain_environment() {
  const char* terminal = std::getenv("TERM");
  return {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
          std::string("TERM=") + (terminal != nullptr ? terminal : "dumb")};
}

core::SandboxOptions describe(const RunOptions& options, const Bundle& bundle,
                              const std::string& resolver) {
  std::error_code error;
  const bool bound = !options.bind.empty();
  core::SandboxOptions out;
  out.root = bound ? bundle.path + "/rootfs" : fs::canonical(options.rootfs, error).string();
  out.command = options.command;
  out.environment = bound ? own_environment() : plain_environment();
  if (bound) out.folder = fs::current_path(error).string();
  out.terminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  if (!options.ports.empty()) {
    out.annotations.emplace_back("sockhop/ports", joined(options.ports));
    out.annotations.emplace_back("sockhop/required", "true");
  }
  if (!options.rules.empty()) out.annotations.emplace_back("sockhop/rules", joined(options.rules));
  const std::string old = (bound ? "" : out.root) + "/etc/resolv.conf";
  if (!resolver.empty() && fs::exists(old, error)) out.resolv_conf = resolver;
  return out;
}

Status write_bundle(const RunOptions& options, const Bundle& bundle,
                    const std::string& nameserver) {
  std::string resolver;
  if (!nameserver.empty()) {
    resolver = bundle.path + "/resolv.conf";
    const auto written = sys::append_text(resolver, "nameserver " + nameserver + "\n");
    if (!written) return written;
  }
  return sys::append_text(bundle.path + "/config.json",
                          core::sandbox_config(describe(options, bundle, resolver)));
}

std::vector<std::string> runtime_words(const std::string& runtime, const Bundle& bundle) {
  // Keys are counted per user: many sandboxes would run out of them.
  return {runtime,     "--root",   bundle.path + "/state", "run", "--no-new-keyring", "--bundle",
          bundle.path, bundle.name};
}

}  // namespace

int run_sandbox(const RunOptions& options) {
  if (auto fine = check(options); !fine) return say(fine.error(), kUsage);
  const auto network = choose_network(options.network);
  if (!network) return say(network.error(), kRefused);
  const auto runtime = sys::find_program("sockhop-runtime");
  if (!runtime) return say(runtime.error(), kRefused);
  const auto bundle = Bundle::make();
  if (!bundle) return say(bundle.error(), kRefused);
  auto sandbox =
      sys::Sandbox::make(runtime_words(*runtime, *bundle),
                         options.bind.empty() ? "" : bundle->path + "/rootfs", sys::own_id_map());
  if (!sandbox) return say(sandbox.error(), kRefused);
  const auto served = start_network(*network, sandbox->pid(), bundle->path + "/network.log");
  if (!served) return say(served.error(), kRefused);
  if (auto written = write_bundle(options, *bundle, served->nameserver); !written) {
    return say(written.error(), kRefused);
  }
  if (auto released = sandbox->release(); !released) return say(released.error(), kRefused);
  return sandbox->wait();
}

}  // namespace sockhop::cli
