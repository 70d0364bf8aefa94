#include "keeper/keeper.h"

#include <signal.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "keeper/requests.h"
#include "sys/file_limit.h"
#include "sys/spawn.h"
#include "sys/unix_socket.h"

namespace sockhop::keeper {
namespace {

// crun holds one connection for each container that is created but not started.
constexpr std::size_t kMaxNotifyConnections = 4096;
// A connection holds its socket and a namespace; the rest of the limit is for sessions.
constexpr std::size_t kLimitShare = 8;

}  // namespace

Keeper::Keeper(Options options, core::Config config, sys::RuntimeDir dir)
    : options_(std::move(options)),
      dir_(std::move(dir)),
      signals_(loop_, SIGTERM, SIGINT, SIGHUP),
      containers_(loop_, dir_, std::move(config)) {
  signals_.add(SIGCHLD);
}

Status Keeper::run() {
  wait_for_signal();
  adopt();
  if (ending_) return {};
  containers_.recall_waiting();
  if (auto opened = open_doors(); !opened) return opened;
  serve();
  sys::remove_socket(dir_.seccomp_socket());
  sys::remove_socket(dir_.control_socket());
  return {};
}

// Sessions of an earlier keeper report first: a notify fd for one of them must not start another.
void Keeper::adopt() {
  auto& sessions = containers_.sessions();
  sessions.adopt_all();
  const auto deadline = std::chrono::steady_clock::now() + SessionLink::kPatience;
  while (sessions.adopting() && !ending_ && std::chrono::steady_clock::now() < deadline) {
    loop_.run_one_until(deadline);
  }
}

Status Keeper::open_doors() {
  auto notify = sys::listen_unix(dir_.seccomp_socket(), sys::SocketKind::stream);
  if (!notify) return notify.error();
  auto control = sys::listen_unix(dir_.control_socket(), sys::SocketKind::stream);
  if (!control) return control.error();
  auto admits = [this](const core::Namespaces& process) {
    return !containers_.has_process(process);
  };
  const std::size_t share = sys::raise_file_limit() / kLimitShare;
  notify_door_ = std::make_unique<NotifyDoor>(
      loop_, std::move(*notify), std::min(kMaxNotifyConnections, share),
      NotifyDoor::Events{admits,
                         [this](Arrival arrival) { containers_.on_arrival(std::move(arrival)); }});
  control_door_ = std::make_unique<ControlDoor>(
      loop_, std::move(*control), options_.log_level,
      ControlDoor::Events{admits, [this](const auto& request, auto answer) {
                            handle(containers_, request, std::move(answer));
                          }});
  return {};
}

void Keeper::serve() {
  while (!ending_) {
    if (const auto deadline = next_deadline()) {
      loop_.run_one_until(*deadline);
      expire();
    } else {
      loop_.run_one();
    }
  }
}

void Keeper::wait_for_signal() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    if (signal == SIGTERM || signal == SIGINT) ending_ = true;
    if (signal == SIGHUP) reload();
    if (signal == SIGCHLD) reap();
    wait_for_signal();
  });
}

void Keeper::reload() {
  auto config = load_config(options_);
  if (!config) {
    spdlog::error("configuration not read again, the old one stays: {}", to_string(config.error()));
    return;
  }
  containers_.set_config(std::move(*config));
  spdlog::info("configuration read again");
}

void Keeper::reap() {
  while (const auto child = sys::reap_child()) {
    const std::string how = sys::describe_exit(child->status);
    if (control_door_ && control_door_->child_ended(child->pid, how)) continue;
    containers_.sessions().child_ended(child->pid, how);
  }
}

void Keeper::expire() {
  const auto now = std::chrono::steady_clock::now();
  containers_.expire(now);
  control_door_->expire(now);
}

std::optional<Containers::Time> Keeper::next_deadline() const {
  const auto of_containers = containers_.next_deadline();
  const auto of_control = control_door_->next_deadline();
  if (of_containers && of_control) return std::min(*of_containers, *of_control);
  return of_containers ? of_containers : of_control;
}

}  // namespace sockhop::keeper
