#include "keeper/containers.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "keeper/container_facts.h"
#include "keeper/let_run.h"
#include "keeper/notes.h"
#include "sys/host_endpoint.h"
#include "sys/messages/convert.h"
#include "sys/notify_check.h"
#include "sys/peer.h"

namespace sockhop::keeper {
namespace {

constexpr int kMaxAttempts = 3;

void let_calls_run(const std::string& id, const std::list<NotifyFd>& all) {
  for (const auto& notify : all) {
    if (sys::has_hung_up(notify.notify)) continue;
    if (auto started = start_letting_run(id, notify.notify); !started) {
      spdlog::error("container {}: its calls fail: {}; restart it", id, to_string(started.error()));
    }
  }
}

void give_up(const std::string& id, const std::list<NotifyFd>& notify, const std::string& reason) {
  spdlog::error(
      "container {}: not accelerated, no ports published: {}; it goes on as without sockhop. "
      "Correct that and restart the container",
      id, reason);
  let_calls_run(id, notify);
}

std::list<NotifyFd> list_of(NotifyFd notify) {
  std::list<NotifyFd> list;
  list.push_back(std::move(notify));
  return list;
}

Result<std::vector<UniqueFd>> bind_all(const std::vector<core::PublishedPort>& ports) {
  if (ports.size() > Containers::kMaxPorts) {
    return input_error("register", "at most 240 ports can be published for one container");
  }
  std::vector<UniqueFd> endpoints;
  for (const auto& port : ports) {
    if (port.protocol != core::Protocol::tcp) {
      return Error{EOPNOTSUPP, "register",
                   core::to_string(port) + ": only TCP ports can be published"};
    }
    auto endpoint = sys::bind_host_endpoint(port);
    if (!endpoint) return endpoint.error();
    endpoints.push_back(std::move(*endpoint));
  }
  return endpoints;
}

SessionLink::OnReply when_done(Containers::OnDone on_done) {
  return [on_done = std::move(on_done)](const Result<internal::FromSession>& reply) {
    on_done(reply ? Status() : Status(reply.error()));
  };
}

}  // namespace

Containers::Containers(boost::asio::io_context& loop, const sys::RuntimeDir& dir,
                       core::Config config)
    : dir_(dir),
      config_(std::move(config)),
      sessions_(loop, dir,
                {[this](const auto& id, auto end) { on_session_end(id, std::move(end)); },
                 [](const auto& id, auto notify, const auto& error) {
                   give_up(id, list_of(std::move(notify)), to_string(error));
                 },
                 [this](const auto& id, const auto& status) { on_adopted(id, status); },
                 [this](const auto& id, const auto& found) { on_found(id, found); }}) {}

bool Containers::has_process(const core::Namespaces& process) const {
  const auto& all = sessions_.all();
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& item) { return core::lives_in(process, item.second.mark); });
}

bool Containers::is_of(const std::string& id, const core::Namespaces& process) const {
  const auto& all = sessions_.all();
  return std::all_of(all.begin(), all.end(), [&](const auto& item) {
    const auto& mark = item.second.mark;
    return mark.empty() || core::lives_in(process, mark) == (item.first == id);
  });
}

void Containers::on_arrival(Arrival arrival) {
  NotifyFd notify;
  notify.pid = container_pid(arrival, sessions_.find(arrival.state.id) != nullptr);
  if (notify.pid > 0 && arrival.runtime.pids.empty()) {
    // The one who sent it has ended, and may have been a process of a container that shares its
    // network: then it can speak for that container only.
    const auto process = sys::namespaces_of(static_cast<pid_t>(notify.pid));
    if (process && !is_of(arrival.state.id, *process)) {
      spdlog::warn("seccomp.sock: refused: pid {} is not a process of container {}", notify.pid,
                   arrival.state.id);
      return;
    }
  }
  if (notify.pid > 0) {
    notify.mark = mark_of(static_cast<pid_t>(notify.pid), arrival.runtime);
  }
  notify.runtime = std::move(arrival.runtime);
  notify.middle = middle_of(std::move(arrival.middle), notify.pid);
  notify.uplinks = find_uplinks(notify.middle, notify.pid);
  notify.notify = std::move(arrival.notify);
  join(arrival.state.id, std::move(notify));
}

void Containers::join(const std::string& id, NotifyFd notify) {
  const auto step = table_.add_notify_fd(id);
  if (!step) {
    return give_up(id, list_of(std::move(notify)), to_string(step.error()));
  }
  if (*step == core::JoinTable::OnNotify::add_to_session) {
    sessions_.add_notify_fd(id, std::move(notify));
  } else {
    Belongings belongings{list_of(std::move(notify)), {}};
    if (auto reserved = endpoints_.extract(id); !reserved.empty()) {
      belongings.endpoints = std::move(reserved.mapped());
      remember_waiting();
    }
    start_session(id, std::move(belongings));
  }
}

// They are missing only when the session before this one took them along.
void Containers::complete(std::vector<UniqueFd>& endpoints, const std::string& id) {
  const auto& registration = table_.find(id)->registration;
  const std::size_t wanted = registration ? registration->ports.size() : 0;
  if (endpoints.size() == wanted) return;
  endpoints.clear();
  if (wanted == 0) return;
  auto bound = bind_all(registration->ports);
  if (bound) {
    endpoints = std::move(*bound);
    return;
  }
  spdlog::error("container {}: its ports are not published: {}; register it again", id,
                to_string(bound.error()));
  (void)table_.remove_registration(id);
}

void Containers::start_session(const std::string& id, Belongings belongings) {
  complete(belongings.endpoints, id);
  const auto& notify = belongings.notify.front();
  internal::Start start;
  start.set_container(id);
  start.set_pid(notify.pid);
  const auto& registration = table_.find(id)->registration;
  if (registration) {
    for (const auto& port : registration->ports) internal::fill(*start.add_ports(), port);
  }
  for (const auto& uplink : notify.uplinks) internal::fill(*start.add_uplinks(), uplink);
  *start.mutable_policy() = policy_message(id);
  for (const auto& feature : config_.without) start.add_without(feature);
  start.set_keeper_notes(to_notes({registration, notify.mark}));
  sessions_.start(std::move(start), std::move(belongings));
}

void Containers::on_session_end(const std::string& id, SessionEnd end) {
  auto& notify = end.left.notify;
  std::erase_if(notify, [](const auto& each) { return sys::has_hung_up(each.notify); });
  const bool again = !end.was_started && !notify.empty();
  if (again && notify.front().attempts < kMaxAttempts) {
    return start_session(id, std::move(end.left));
  }
  table_.session_ended(id);
  if (again) return give_up(id, notify, end.reason);
  // A container of the same name may have come while the old one's session was ending.
  for (auto& each : notify) join(id, std::move(each));
}

void Containers::on_adopted(const std::string& id, const internal::Status& status) {
  Notes notes = notes_of(status);
  sessions_.find(id)->mark = notes.mark;
  table_.adopt_session(id, std::move(notes.registration), status.policy().accelerate());
}

void Containers::on_found(const std::string& id, const internal::Found& found) {
  Session& session = *sessions_.find(id);
  const core::Namespaces inside{
      found.network(), found.mount(), {found.pids().begin(), found.pids().end()}};
  core::Namespaces runtime = session.runtime;
  // An earlier keeper knew it: the container may share what the runtime lives in.
  if (runtime.network == 0) runtime.network = inside.network;
  session.mark = mark_of(inside, std::move(runtime), false);
  internal::ToSession request;
  for (const auto& uplink : uplinks_of(inside.network)) {
    internal::fill(*request.mutable_add_uplinks()->add_uplinks(), uplink);
  }
  auto log = [id](const Status& done) {
    if (!done) spdlog::warn("container {}: not told all: {}", id, to_string(done.error()));
  };
  if (request.has_add_uplinks()) sessions_.ask(id, std::move(request), {}, when_done(log));
  // The session remembers the mark for the next keeper.
  push_policy(id, log);
}

void Containers::set_config(core::Config config) {
  config_ = std::move(config);
  std::vector<std::string> ids;
  for (const auto& [id, session] : sessions_.all()) ids.push_back(id);
  for (const auto& id : ids) {
    push_policy(id, [id](const Status& done) {
      if (!done) spdlog::warn("container {}: policy not set: {}", id, to_string(done.error()));
    });
  }
}

void Containers::recall_waiting() {
  auto all = read_waiting(dir_);
  if (!all) {
    spdlog::error("registrations of containers that have not come are lost: {}; register again",
                  to_string(all.error()));
    return;
  }
  for (auto& [id, waiting] : *all) recall(id, std::move(waiting));
}

void Containers::recall(const std::string& id, Waiting waiting) {
  // Its session came, and the file was not written again.
  if (const auto* entry = table_.find(id); entry && entry->registration) return;
  add_registration(id, std::move(waiting.registration), [id](const Status& done) {
    if (done) return;
    spdlog::error("container {}: its registration is lost: {}; register it again", id,
                  to_string(done.error()));
  });
  if (!waiting.accelerate) (void)table_.set_acceleration(id, false);
}

// Without the file only a keeper's sudden end loses something.
void Containers::remember_waiting() {
  if (auto written = write_waiting(dir_, table_); !written) {
    spdlog::warn("registrations that wait would not outlive sockhopd: {}",
                 to_string(written.error()));
  }
}

void Containers::add_registration(const std::string& id, core::Registration registration,
                                  OnDone on_done) {
  const auto ports = registration.ports;
  const auto step =
      table_.add_registration(id, std::move(registration), std::chrono::steady_clock::now());
  if (!step) return on_done(step.error());
  auto endpoints = bind_all(ports);
  if (!endpoints) {
    (void)table_.remove_registration(id);
    return on_done(endpoints.error());
  }
  if (*step == core::JoinTable::OnRegister::push_to_session) {
    push(id, *endpoints, [this, id, on_done = std::move(on_done)](const Status& done) {
      if (!done) (void)table_.remove_registration(id);
      on_done(done);
    });
  } else {
    endpoints_[id] = std::move(*endpoints);
    remember_waiting();
    on_done({});
  }
}

void Containers::remove_registration(const std::string& id, OnDone on_done) {
  const auto step = table_.remove_registration(id);
  if (!step) return on_done(step.error());
  if (*step == core::JoinTable::OnUnregister::reset_session) {
    push(id, {}, std::move(on_done));
  } else {
    endpoints_.erase(id);
    remember_waiting();
    on_done({});
  }
}

void Containers::set_acceleration(const std::string& id, bool on, OnDone on_done) {
  if (auto set = table_.set_acceleration(id, on); !set) return on_done(set.error());
  if (!sessions_.find(id)) {
    remember_waiting();
    return on_done({});
  }
  push_policy(id, std::move(on_done));
}

void Containers::push(const std::string& id, const std::vector<UniqueFd>& endpoints,
                      OnDone on_done) {
  internal::ToSession request;
  auto& set_ports = *request.mutable_set_ports();
  if (const auto& registration = table_.find(id)->registration) {
    for (const auto& port : registration->ports) internal::fill(*set_ports.add_ports(), port);
  }
  auto then = [this, id, on_done = std::move(on_done)](const Status& done) {
    // The session may have ended while it was asked.
    if (!done || !sessions_.find(id)) return on_done(done);
    push_policy(id, on_done);
  };
  sessions_.ask(id, std::move(request), endpoints, when_done(std::move(then)));
}

void Containers::push_policy(const std::string& id, OnDone on_done) {
  internal::ToSession request;
  auto& set_policy = *request.mutable_set_policy();
  *set_policy.mutable_policy() = policy_message(id);
  set_policy.set_keeper_notes(to_notes({table_.find(id)->registration, sessions_.find(id)->mark}));
  sessions_.ask(id, std::move(request), {}, when_done(std::move(on_done)));
}

internal::Policy Containers::policy_message(const std::string& id) const {
  const auto* entry = table_.find(id);
  const auto own = entry->registration ? entry->registration->rules : std::vector<core::Rule>();
  internal::Policy message;
  internal::fill(message, core::policy_for(config_, own, entry->accelerate));
  return message;
}

void Containers::expire(Time now) {
  sessions_.expire(now);
  const auto expired = table_.take_expired(now);
  if (!expired.empty()) remember_waiting();
  for (const auto& id : expired) {
    endpoints_.erase(id);
    spdlog::warn(
        "container {}: no notify fd came within 60 s, its registration is dropped; start "
        "it with a profile that `sockhop profile apply` made",
        id);
  }
}

std::optional<Containers::Time> Containers::next_deadline() const {
  const auto of_sessions = sessions_.next_deadline();
  const auto of_table = table_.next_deadline();
  if (of_sessions && of_table) return std::min(*of_sessions, *of_table);
  return of_sessions ? of_sessions : of_table;
}

}  // namespace sockhop::keeper
