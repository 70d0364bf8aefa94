// sockhop-hook: OCI hooks. See sockhop-hook(8).
#include <cstdio>
#include <exception>
#include <string>

#include "hook/settings.h"
#include "hook/stages.h"
#include "sys/text_file.h"

namespace {

using namespace sockhop;

enum ExitStatus { kDone = 0, kFailed = 1, kUsage = 2 };

constexpr std::chrono::milliseconds kInputPatience{4000};
constexpr const char* kUsageText =
    "usage: sockhop-hook createRuntime|poststop < STATE\n"
    "       sockhop-hook precreate < CONFIG.JSON > CONFIG.JSON\n"
    "       sockhop-hook --version\n"
    "An engine calls it; see sockhop-hook(8).\n";

int say(const std::string& message, int status) {
  std::fprintf(stderr, "sockhop: %s\n", message.c_str());
  return status;
}

int tell(const hook::Preparation& done) {
  if (done.outcome == hook::Outcome::refused) return say(done.message, kFailed);
  if (done.outcome == hook::Outcome::plain) {
    return say("the container starts without acceleration: " + done.message, kDone);
  }
  return kDone;
}

int precreate(const std::string& config, const core::RuntimeConfig& settings) {
  const auto made = hook::precreate(config, settings);
  if (made.done.outcome != hook::Outcome::refused) std::fputs(made.config.c_str(), stdout);
  return tell(made.done);
}

int run(const std::string& called, const std::string& stage) {
  if (stage == "--version") {
    std::puts("sockhop-hook " SOCKHOP_VERSION);
    return kDone;
  }
  const bool known = stage == "precreate" || stage == "createRuntime" || stage == "poststop";
  if (!known) {
    std::fputs(kUsageText, stage == "--help" ? stdout : stderr);
    return stage == "--help" ? kDone : kUsage;
  }
  const auto input = sys::read_input(kInputPatience);
  if (stage == "poststop") {
    if (input) hook::poststop(*input);
    return kDone;  // whatever happens: an error here would leave the container half removed
  }
  if (!input) return say(to_string(input.error()), kFailed);
  const auto settings = hook::read_settings(called);
  if (!settings) return say(to_string(settings.error()), kFailed);
  if (stage == "precreate") return precreate(*input, *settings);
  return tell(hook::create_runtime(*input, *settings));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string stage = argc == 2 ? argv[1] : "";
  try {
    return run(hook::called_as(argc > 0 ? argv[0] : "sockhop-hook"), stage);
  } catch (const std::exception& error) {  // of the libraries: our own code throws nothing
    return say(error.what(), stage == "poststop" ? kDone : kFailed);
  }
}
