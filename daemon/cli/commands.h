// What each command of `sockhop` does, once its words are parsed.
#pragma once

#include <string>
#include <vector>

#include "cli/client.h"

namespace sockhop::cli {

struct RegisterOptions {
  std::string container;
  std::vector<std::string> ports;  // [IP:]HOST:CONT[/PROTO]
  std::vector<std::string> rules;
};

struct ProfileOptions {
  std::string config;
  std::string output;    // empty: standard output
  std::string listener;  // empty: seccomp.sock of XDG_RUNTIME_DIR
  bool in_place = false;
  std::string runtime;  // asked whether it can set WAIT_KILLABLE_RECV
  bool wait_killable = false;
  bool without_wait_killable = false;
  bool allow_io_uring = false;
};

ExitStatus register_container(Client& client, const RegisterOptions& options);
ExitStatus unregister_container(Client& client, const std::string& container);
ExitStatus explain(Client& client, const std::string& container, const std::string& destination);
ExitStatus set_acceleration(Client& client, const std::string& container, bool on);
ExitStatus ps(Client& client, bool json);
/// Needs no daemon.
ExitStatus apply_profile(const ProfileOptions& options);

}  // namespace sockhop::cli
