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
#include "hook/settings.h"
#include "sys/run_program.h"

namespace {

using namespace sockhop;

// As the runtimes say that something is wrong.
constexpr int kFailed = 1;

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

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
  const auto config = hook::read_settings(called);
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
    const std::string called = hook::called_as(words[0]);
    return run(called, std::move(words));
  } catch (const std::exception& error) {  // of the libraries: our own code throws nothing
    std::fprintf(stderr, "sockhop: %s\n", error.what());
    return kFailed;
  }
}
