// sockhop: the command line of sockhopd. See sockhop(1).
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <functional>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/run.h"

namespace {

using namespace sockhop::cli;

/// What the parsed command line asks for.
struct Request {
  std::string socket;
  std::string container;
  std::string destination;
  bool json = false;
  RegisterOptions registration;
  ProfileOptions profile;
  RunOptions sandbox;
  bool wants_sandbox = false;
  std::function<ExitStatus(Client&)> with_client;
};

void add_register(CLI::App& app, Request& request) {
  auto* command = app.add_subcommand("register", "Reserve the ports of a container, set its rules");
  auto& options = request.registration;
  command->add_option("ID", options.container, "OCI id of the container")->required();
  command->add_option("-p,--publish", options.ports, "[IP:]HOST:CONT[/PROTO], repeatable");
  command->add_option("--rule", options.rules,
                      "\"stay|hop|deny CIDR[:PORT[-PORT]][/tcp|udp]\", repeatable");
  command->callback([&] {
    request.with_client = [&](Client& client) { return register_container(client, options); };
  });
}

CLI::App* add_container_command(CLI::App& app, Request& request, const std::string& name,
                                const std::string& help) {
  auto* command = app.add_subcommand(name, help);
  command->add_option("ID", request.container, "OCI id of the container")->required();
  return command;
}

void add_simple_commands(CLI::App& app, Request& request) {
  add_container_command(app, request, "unregister", "Close its ports, forget its rules")
      ->callback([&] {
        request.with_client = [&](Client& client) {
          return unregister_container(client, request.container);
        };
      });
  for (const bool on : {false, true}) {
    add_container_command(app, request, on ? "on" : "off",
                          on ? "Accelerate the container again" : "Let all its connections stay")
        ->callback([&, on] {
          request.with_client = [&, on](Client& client) {
            return set_acceleration(client, request.container, on);
          };
        });
  }
}

void add_questions(CLI::App& app, Request& request) {
  auto* ps_command = app.add_subcommand("ps", "List the containers with ports and counters");
  ps_command->add_flag("--json", request.json, "As JSON");
  ps_command->callback(
      [&] { request.with_client = [&](Client& client) { return ps(client, request.json); }; });
  auto* why = add_container_command(app, request, "explain", "Say what a connection would do");
  why->add_option("DESTINATION", request.destination, "ADDR:PORT, [ADDR6]:PORT")->required();
  why->callback([&] {
    request.with_client = [&](Client& client) {
      return explain(client, request.container, request.destination);
    };
  });
}

void add_profile(CLI::App& app, Request& request) {
  auto* profile = app.add_subcommand("profile", "Seccomp profiles");
  profile->require_subcommand(1);
  auto* apply = profile->add_subcommand("apply", "Add sockhop's rules to an OCI config.json");
  auto& options = request.profile;
  apply->add_option("CONFIG", options.config, "The bundle's config.json")->required();
  auto* output = apply->add_option("-o,--output", options.output, "Write there, not to stdout");
  apply->add_flag("--in-place", options.in_place, "Replace CONFIG")->excludes(output);
  apply->add_option("--listener", options.listener,
                    "The daemon's socket (default: $XDG_RUNTIME_DIR/sockhop/seccomp.sock)");
  auto* always = apply->add_flag("--wait-killable", options.wait_killable,
                                 "Set WAIT_KILLABLE_RECV; needs crun, or runc 1.5");
  apply->add_option("--runtime", options.runtime,
                    "Set WAIT_KILLABLE_RECV if this runtime and the kernel can");
  apply
      ->add_option_function<std::string>(
          "--without", [&options](const std::string&) { options.without_wait_killable = true; },
          "wait-killable: --runtime does not set it")
      ->check(CLI::IsMember({"wait-killable"}))
      ->excludes(always);
  apply->add_flag("--allow-io-uring", options.allow_io_uring,
                  "Leave io_uring as the profile has it");
}

void add_run(CLI::App& app, Request& request) {
  auto* command = app.add_subcommand("run", "Run a program in a rootless sandbox with sockhop");
  auto& options = request.sandbox;
  command->add_option("-p,--publish", options.ports, "[IP:]HOST:CONT[/PROTO], repeatable")
      ->expected(1);
  command
      ->add_option("--rule", options.rules,
                   "\"stay|hop|deny CIDR[:PORT[-PORT]][/tcp|udp]\", repeatable")
      ->expected(1);
  command->add_option("--rootfs", options.rootfs, "Folder of the root file system inside");
  command->add_option("--bind", options.bind, "/: the host's file system, as this user may use it");
  command->add_option("--network", options.network, "slirp4netns or pasta")
      ->check(CLI::IsMember({"slirp4netns", "pasta"}));
  command->add_option("COMMAND", options.command, "Behind --: the program and its arguments")
      ->required();
  command->callback([&] { request.wants_sandbox = true; });
}

int run(int argc, char** argv) {
  CLI::App app("Asks and tells sockhopd.", "sockhop");
  app.set_version_flag("--version", "sockhop " SOCKHOP_VERSION);
  app.require_subcommand(1);
  app.fallthrough();  // --socket may stand behind the command, too
  Request request;
  app.add_option("--socket", request.socket,
                 "The daemon's socket (default: $XDG_RUNTIME_DIR/sockhop/sockhop.sock)");
  add_register(app, request);
  add_simple_commands(app, request);
  add_questions(app, request);
  add_profile(app, request);
  add_run(app, request);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& stop) {
    return app.exit(stop) == 0 ? kDone : kUsage;
  }
  if (request.wants_sandbox) return run_sandbox(request.sandbox);
  if (!request.with_client) return apply_profile(request.profile);
  auto client = Client::open(request.socket);
  if (!client) {
    std::fprintf(stderr, "sockhop: %s\n", sockhop::to_string(client.error()).c_str());
    return kUnreachable;
  }
  return request.with_client(*client);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {  // of the libraries: our own code throws nothing
    std::fprintf(stderr, "sockhop: %s\n", error.what());
    return kRefused;
  }
}
