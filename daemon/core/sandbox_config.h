// The OCI config.json of `sockhop run`: one program in a sandbox of its own, without an engine.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sockhop::core {

struct SandboxOptions {
  std::string root;                  // absolute path of the root file system
  std::vector<std::string> command;  // not empty
  std::vector<std::string> environment;
  std::string folder = "/";  // where the command starts, inside
  bool terminal = false;
  std::string resolv_conf;  // bound over /etc/resolv.conf; empty: not
  std::vector<std::pair<std::string, std::string>> annotations;  // what sockhop-runtime reads
};

/// For a runtime that already stands in the user and network namespace of the sandbox: both are
/// shared, all others are made. It has the capabilities that engines give, and cannot gain others.
std::string sandbox_config(const SandboxOptions& options);

/// One range of /etc/subuid or /etc/subgid.
struct SubIds {
  unsigned long first = 0;
  unsigned long count = 0;
};
/// The user's first range, by name or by number; count 0 when there is none.
SubIds sub_ids_of(const std::string& file_text, const std::string& name, const std::string& number);

}  // namespace sockhop::core
