#include "cli/sandbox_network.h"

#include <cerrno>
#include <chrono>
#include <utility>
#include <vector>

#include "sys/message_channel.h"
#include "sys/readiness.h"
#include "sys/run_program.h"
#include "sys/spawn.h"
#include "sys/text_file.h"
#include "sys/unix_socket.h"

namespace sockhop::cli {
namespace {

constexpr std::chrono::milliseconds kPatience{10000};
// The address that slirp4netns answers names at.
constexpr const char* kSlirpResolver = "10.0.2.3";

Error failed(const char* program, const std::string& said) {
  return Error{EPROTO, program, said.empty() ? "it does not start" : said};
}

Result<SandboxNetwork> start_slirp(pid_t pid, const std::string& log) {
  const auto program = sys::find_other_program("slirp4netns");
  if (!program) return program.error();
  auto ready = sys::packet_pair();
  if (!ready) return ready.error();
  auto life = sys::make_lifeline();
  if (!life) return life.error();
  // A shell, because what it says must not mix with the output of the program in the sandbox.
  const std::vector<std::string> words{"-c",
                                       "log=$1; shift; exec \"$@\" >\"$log\" 2>&1",
                                       "sh",
                                       log,
                                       *program,
                                       "--configure",
                                       "--mtu=65520",
                                       "--disable-host-loopback",
                                       "--enable-ipv6",
                                       "--enable-sandbox",
                                       "--enable-seccomp",
                                       "--ready-fd=3",
                                       "--exit-fd=4",
                                       std::to_string(pid),
                                       "tap0"};
  const auto started = sys::spawn({"/bin/sh", words, {ready->second, life->first}});
  if (!started) return started.error();
  ready->second.reset();
  life->first.reset();
  // Readable when it is ready, and when it has ended: its log tells.
  const sys::MessageChannel channel(std::move(ready->first));
  sys::wait_readable_for(channel.socket(), static_cast<int>(kPatience.count()));
  const auto word = channel.receive();
  if (!word || word->end || word->bytes != "1") {
    const auto said = sys::read_text_file(log);
    return failed("slirp4netns", said ? *said : "");
  }
  return SandboxNetwork{kSlirpResolver, std::move(life->second)};
}

// Waits for the end of whoever holds the other side of 3, then ends pasta, which does not notice
// that a namespace without a name is gone.
constexpr const char* kWatch =
    "read gone <&3; read name <\"/proc/$1/comm\" && case $name in pasta*|passt*) kill \"$1\";; "
    "esac";

// It goes to the background once the namespace is set up.
Result<SandboxNetwork> start_pasta(pid_t pid, const std::string& log) {
  const auto program = sys::find_other_program("pasta");
  if (!program) return program.error();
  const std::string pid_file = log + ".pid";
  const auto ended = sys::run_program(
      {*program, "--config-net", "--quiet", "--tcp-ports", "none", "--udp-ports", "none",
       "--tcp-ns", "none", "--udp-ns", "none", "--pid", pid_file, std::to_string(pid)},
      kPatience);
  if (!ended) return ended.error();
  if (ended->status != 0) return failed("pasta", ended->output);
  const auto number = sys::read_text_file(pid_file);
  if (!number) return number.error();
  auto life = sys::make_lifeline();
  if (!life) return life.error();
  const std::string pasta = number->substr(0, number->find('\n'));
  const auto watcher = sys::spawn({"/bin/sh", {"-c", kWatch, "sh", pasta}, {life->first}});
  if (!watcher) return watcher.error();
  return SandboxNetwork{{}, std::move(life->second)};
}

}  // namespace

Result<std::string> choose_network(const std::string& wanted) {
  for (const std::string name : {"slirp4netns", "pasta"}) {
    if (!wanted.empty() && wanted != name) continue;
    if (sys::find_other_program(name)) return name;
  }
  return Error{ENOENT, "network",
               (wanted.empty() ? "neither slirp4netns nor pasta is" : wanted + " is not") +
                   " in PATH; install the package slirp4netns or passt"};
}

Result<SandboxNetwork> start_network(const std::string& name, pid_t pid, const std::string& log) {
  return name == "pasta" ? start_pasta(pid, log) : start_slirp(pid, log);
}

}  // namespace sockhop::cli
