// sockhop-runtime: stands before runc or crun. See sockhop-runtime(8).
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime_command.h"
#include "core/runtime_config.h"
#include "hook/prepare.h"
#include "hook/publication.h"
#include "hook/report.h"
#include "sys/run_program.h"
#include "sys/spawn.h"
#include "sys/text_file.h"

namespace {

using namespace sockhop;

// As the runtimes say that something is wrong.
constexpr int kFailed = 1;

/// "/usr/local/bin/sockhop-crun"; the folder of this program where the caller gave no folder.
std::string called_as(const char* name) {
  const std::string called = name != nullptr && *name != '\0' ? name : "sockhop-runtime";
  if (called.find('/') != std::string::npos) return called;
  const auto folder = sys::own_folder();
  return (folder ? *folder : std::string(".")) + "/" + called;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Beside the name we are called by, because engines clean up with an empty environment: a file
/// below HOME would not be found then, and another runtime would be asked for the container.
Result<core::RuntimeConfig> read_config(const std::string& called) {
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

Result<std::string> find_runtime(const core::RuntimeConfig& config, const std::string& called) {
  auto name = config.runtime.empty() ? core::runtime_behind(base_name(called)) : config.runtime;
  if (!name.empty()) return sys::find_other_program(name);
  if (auto runc = sys::find_other_program("runc")) return runc;
  if (auto crun = sys::find_other_program("crun")) return crun;
  return Error{
      ENOENT, "find program",
      "neither runc nor crun is in PATH; install one, or name it: runtime in " + called + ".toml"};
}

int fail(const core::RuntimeCommand& command, const std::string& message) {
  hook::report(command, hook::Level::error, message, false);
  return kFailed;
}

/// Comes back only when the container must not start.
int run(const std::string& called, std::vector<std::string> words) {
  const auto command = core::parse_runtime_command({words.begin() + 1, words.end()});
  const auto config = read_config(called);
  if (!config) return fail(command, to_string(config.error()));
  const auto runtime = find_runtime(*config, called);
  if (!runtime) return fail(command, to_string(runtime.error()));
  if (command.kind == core::RuntimeCommand::Kind::creates) {
    const auto done = hook::prepare(command, *config, *runtime);
    if (done.outcome == hook::Outcome::refused) return fail(command, done.message);
    if (done.outcome == hook::Outcome::plain) {
      hook::report(command, hook::Level::warning,
                   "the container starts without acceleration: " + done.message, config->quiet);
    }
  } else if (command.kind == core::RuntimeCommand::Kind::deletes) {
    hook::forget(command.container);
  }
  words[0] = *runtime;
  return fail(command, to_string(sys::become_program(*runtime, words)));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::vector<std::string> words(argv, argv + argc);
    if (words.empty()) words.emplace_back();
    if (words.size() == 2 && words[1] == "--sockhop-version") {
      std::printf("sockhop-runtime " SOCKHOP_VERSION "\n");
      return 0;
    }
    const std::string called = called_as(words[0].c_str());
    return run(called, std::move(words));
  } catch (const std::exception& error) {  // of the libraries: our own code throws nothing
    std::fprintf(stderr, "sockhop: %s\n", error.what());
    return kFailed;
  }
}
