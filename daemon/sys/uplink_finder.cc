#include "sys/uplink_finder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "core/uplink_command.h"
#include "sys/link_view.h"
#include "sys/proc_files.h"
#include "sys/route_view.h"
#include "sys/tap_owner.h"

namespace sockhop::sys {
namespace {

using core::Uplink;
using core::UplinkCommand;
using core::UplinkKind;

std::optional<std::uint64_t> inode_of(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
  return facts.st_ino;
}

std::string proc(pid_t pid) { return "/proc/" + std::to_string(pid); }

// ns/net of a process that is not dumpable cannot be read, its net folder can; an entry of procfs
// has an inode of its own in each network namespace.
std::optional<std::uint64_t> mark_of_netns(const std::string& process) {
  return inode_of(process + "/net/dev");
}

struct Candidate {
  pid_t pid;
  UplinkCommand command;
};

std::optional<Candidate> as_candidate(pid_t pid) {
  const auto name = command_name_of(pid);
  if (!name) return std::nullopt;
  const bool named =
      name->starts_with("slirp4netns") || name->starts_with("pasta") || name->starts_with("passt");
  if (!named || mark_of_netns(proc(pid)) != mark_of_netns("/proc/thread-self")) return std::nullopt;
  const auto arguments = command_line_of(pid);
  if (!arguments) return std::nullopt;
  auto command = core::parse_uplink_command(*arguments);
  if (!command) return std::nullopt;
  return Candidate{pid, *std::move(command)};
}

// Does the command line's target lie in the namespace?
class TargetTest {
 public:
  TargetTest(const Candidate& candidate, const std::vector<pid_t>& processes, std::uint64_t wanted)
      : candidate_(candidate), processes_(processes), wanted_(wanted) {}

  bool operator()(std::int64_t pid) const { return serves(proc(static_cast<pid_t>(pid))); }

  // The path may exist only where Podman or RootlessKit mounted it.
  bool operator()(const std::string& path) const {
    if (inode_of(path) == wanted_) return true;
    return std::any_of(processes_.begin(), processes_.end(),
                       [&](pid_t pid) { return inode_of(proc(pid) + "/root" + path) == wanted_; });
  }

  bool operator()(UplinkCommand::OfChild /*none*/) const {
    return std::any_of(processes_.begin(), processes_.end(), [&](pid_t pid) {
      const auto parent = parent_of(pid);
      return parent && *parent == candidate_.pid && serves(proc(pid));
    });
  }

 private:
  [[nodiscard]] bool serves(const std::string& process) const {
    return inode_of(process + "/ns/net") == wanted_;
  }

  const Candidate& candidate_;
  const std::vector<pid_t>& processes_;
  std::uint64_t wanted_;
};

Uplink make_uplink(const UplinkCommand& command, std::uint64_t netns_inode, std::string device) {
  return {netns_inode, std::move(device), command.kind, command.outbound_fixed, command.mapped};
}

// Of the routes that lead to an address of nobody's, in both families.
std::vector<std::string> outbound_devices() {
  std::vector<std::string> names;
  auto routes = RouteView::open();
  auto links = LinkView::open();
  if (!routes || !links) return names;
  for (const char* text : {"203.0.113.1", "2001:db8::1"}) {
    const auto route = routes->lookup(*core::Address::parse(text));
    if (!route || route->device == 0) continue;
    const auto device = links->get(route->device);
    if (device && std::find(names.begin(), names.end(), device->name) == names.end()) {
      names.push_back(device->name);
    }
  }
  return names;
}

void add_uplinks(const Candidate& candidate, const std::vector<pid_t>& processes,
                 std::uint64_t netns_inode, std::vector<Uplink>& found) {
  const auto& command = candidate.command;
  if (command.kind == UplinkKind::slirp4netns) {
    // The tap itself says more than a command line; where it may not be asked the line must do.
    if (const auto taps = taps_held_by(candidate.pid)) {
      for (const auto& tap : *taps) {
        if (tap.netns_inode == netns_inode) {
          found.push_back(make_uplink(command, netns_inode, tap.device));
        }
      }
      return;
    }
  }
  if (!std::visit(TargetTest(candidate, processes, netns_inode), command.target)) return;
  if (!command.device.empty()) {
    found.push_back(make_uplink(command, netns_inode, command.device));
    return;
  }
  for (auto& name : outbound_devices()) {
    found.push_back(make_uplink(command, netns_inode, std::move(name)));
  }
}

}  // namespace

Result<std::vector<Uplink>> UplinkFinder::find(std::uint64_t netns_inode) const {
  const auto processes = processes_of_user(::getuid());
  if (!processes) return processes.error();
  std::vector<Uplink> found;
  for (const pid_t pid : *processes) {
    if (const auto candidate = as_candidate(pid)) {
      add_uplinks(*candidate, *processes, netns_inode, found);
    }
  }
  return found;
}

}  // namespace sockhop::sys
