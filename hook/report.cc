#include "hook/report.h"

#include <cstdio>
#include <ctime>

#include "sys/text_file.h"

namespace sockhop::hook {
namespace {

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  char text[32] = "";
  if (gmtime_r(&seconds, &parts) != nullptr) {
    std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  }
  return text;
}

}  // namespace

void report(const core::RuntimeCommand& command, Level level, const std::string& message,
            bool quiet) {
  const std::string text = "sockhop: " + message;
  if (level == Level::error || !quiet) std::fprintf(stderr, "%s\n", text.c_str());
  if (command.log.empty()) return;
  const std::string word = level == Level::error ? "error" : "warning";
  // A log that cannot be written must not keep the container from running.
  (void)sys::append_text(command.log,
                         core::runtime_log_line(command.log_is_json, word, text, now()));
}

}  // namespace sockhop::hook
