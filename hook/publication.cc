#include "hook/publication.h"

#include <sys/wait.h>

#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "core/oci_state.h"
#include "sys/run_program.h"
#include "sys/spawn.h"
#include "sys/text_file.h"

namespace sockhop::hook {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kForgetPatience{2000};
constexpr std::size_t kFileNameRoom = 255;
constexpr int kUnreachable = 3;  // exit status of sockhop(1)

// A file for each container that has been published, so that the end of any other container costs
// no question to the daemon.
std::string mark_of(const sys::RuntimeDir& dir, const std::string& container) {
  return dir.path + "/published/" + core::session_file_name(container, kFileNameRoom);
}

Result<sys::Ended> ask(const sys::RuntimeDir& dir, std::vector<std::string> words,
                       std::chrono::milliseconds patience) {
  const auto program = sys::find_program("sockhop");
  if (!program) return program.error();
  words.insert(words.begin(), {*program, "--socket", dir.control_socket()});
  return sys::run_program(words, patience);
}

/// The reason that sockhop(1) has printed, without its name.
std::string reason_in(const std::string& output) {
  constexpr std::string_view kName = "sockhop: ";
  const std::string line = output.substr(0, output.find('\n'));
  return line.starts_with(kName) ? line.substr(kName.size()) : line;
}

Preparation judge(const Result<sys::Ended>& told) {
  if (!told) {
    return {Outcome::plain, "its ports cannot be published: " + to_string(told.error()) +
                                "; look at the log of sockhopd"};
  }
  if (told->status == 0) return {Outcome::accelerated, {}};
  const bool unreachable = WIFEXITED(told->status) && WEXITSTATUS(told->status) == kUnreachable;
  return {unreachable ? Outcome::plain : Outcome::refused, reason_in(told->output)};
}

}  // namespace

Preparation publish(const sys::RuntimeDir& dir, const std::string& container,
                    const core::ContainerWishes& wishes, std::chrono::milliseconds patience) {
  std::error_code error;
  fs::create_directory(dir.path + "/published", error);
  if (auto marked = sys::append_text(mark_of(dir, container), ""); !marked) {
    return {Outcome::plain, to_string(marked.error())};
  }
  std::vector<std::string> words{"register"};
  for (const auto& port : wishes.ports) words.insert(words.end(), {"-p", port});
  for (const auto& rule : wishes.rules) words.insert(words.end(), {"--rule", rule});
  words.insert(words.end(), {"--", container});
  auto told = judge(ask(dir, words, patience));
  if (told.outcome == Outcome::refused) {
    // A container that is started again may find what is left of its own registration.
    (void)ask(dir, {"unregister", "--", container}, patience);
    told = judge(ask(dir, words, patience));
  }
  if (told.outcome != Outcome::accelerated) fs::remove(mark_of(dir, container), error);
  return told;
}

void forget(const std::string& container) {
  const auto dir = sys::find_engines_runtime_dir();
  if (!dir || !core::check_container_id(container)) return;
  std::error_code error;
  if (!fs::remove(mark_of(*dir, container), error) || error) return;
  // Gone already when the container had run: its registration ended with it.
  (void)ask(*dir, {"unregister", "--", container}, kForgetPatience);
}

}  // namespace sockhop::hook
