// sockhopd, the keeper: see README.md of this folder.
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <exception>
#include <string_view>

#include "keeper/keeper.h"
#include "keeper/let_run.h"
#include "keeper/options.h"
#include "sys/kernel_probe.h"
#include "sys/runtime_dir.h"

namespace {

int fail(const sockhop::Error& error) {
  std::fprintf(stderr, "sockhopd: %s\n", sockhop::to_string(error).c_str());
  return 1;
}

int serve(const sockhop::keeper::Options& options) {
  if (auto kernel = sockhop::sys::require_kernel(); !kernel) return fail(kernel.error());
  auto config = sockhop::keeper::load_config(options);
  if (!config) return fail(config.error());
  const auto dir = sockhop::sys::make_runtime_dir();
  if (!dir) return fail(dir.error());
  const auto lock = sockhop::sys::lock_runtime_dir(*dir);
  if (!lock) return fail(lock.error());
  sockhop::keeper::Keeper keeper(options, std::move(*config), *dir);
  if (auto ended = keeper.run(); !ended) return fail(ended.error());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 3 && argv[1] == std::string_view(sockhop::keeper::kLetRun)) {
      return sockhop::keeper::let_run();
    }
    spdlog::set_default_logger(spdlog::stderr_logger_st("sockhopd"));
    sockhop::keeper::Options options;
    if (const auto end = sockhop::keeper::parse_command_line(argc, argv, options)) {
      return end->status;
    }
    spdlog::set_level(spdlog::level::from_str(options.log_level));
    return serve(options);
  } catch (const std::exception& error) {  // of the libraries: our own code throws nothing
    std::fprintf(stderr, "sockhopd: %s\n", error.what());
    return 1;
  }
}
