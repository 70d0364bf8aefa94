#include "core/join.h"

#include <algorithm>
#include <utility>

namespace sockhop::core {
namespace {

constexpr std::size_t kMaxId = 1024;

Error unknown(const std::string& id) {
  return Error{ENOENT, "container", id + " is not known; `sockhop ps` lists those that are"};
}

bool is_waiting(const JoinTable::Entry& entry) { return !entry.has_session; }

}  // namespace

Status JoinTable::admit(const std::string& id) const {
  if (id.empty() || id.size() > kMaxId) {
    return input_error("container id", "must have 1 to 1024 bytes");
  }
  if (entries_.size() >= kMaxEntries && !entries_.contains(id)) {
    return Error{ENOSPC, "container", "4096 are known already; unregister or end some"};
  }
  return {};
}

Result<JoinTable::OnRegister> JoinTable::add_registration(const std::string& id,
                                                          Registration registration, Time now) {
  if (auto admitted = admit(id); !admitted) return admitted.error();
  Entry& entry = entries_[id];
  if (entry.registration) {
    return Error{EEXIST, "register", id + " is registered already; unregister it first"};
  }
  entry.registration = std::move(registration);
  if (entry.has_session) return OnRegister::push_to_session;
  entry.deadline = now + kPatience;
  return OnRegister::wait_for_container;
}

Result<JoinTable::OnNotify> JoinTable::add_notify_fd(const std::string& id) {
  if (auto admitted = admit(id); !admitted) return admitted.error();
  Entry& entry = entries_[id];
  return std::exchange(entry.has_session, true) ? OnNotify::add_to_session
                                                : OnNotify::start_session;
}

Result<JoinTable::OnUnregister> JoinTable::remove_registration(const std::string& id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return unknown(id);
  if (!found->second.registration) {
    return Error{ENOENT, "unregister", id + " has no registration"};
  }
  if (is_waiting(found->second)) {
    entries_.erase(found);
    return OnUnregister::release_endpoints;
  }
  found->second.registration.reset();
  found->second.accelerate = true;
  return OnUnregister::reset_session;
}

void JoinTable::session_ended(const std::string& id) { entries_.erase(id); }

std::vector<std::string> JoinTable::take_expired(Time now) {
  std::vector<std::string> expired;
  std::erase_if(entries_, [&](const auto& item) {
    const bool late = is_waiting(item.second) && item.second.deadline <= now;
    if (late) expired.push_back(item.first);
    return late;
  });
  return expired;
}

std::optional<JoinTable::Time> JoinTable::next_deadline() const {
  std::optional<Time> next;
  for (const auto& [id, entry] : entries_) {
    if (is_waiting(entry)) next = std::min(next.value_or(entry.deadline), entry.deadline);
  }
  return next;
}

void JoinTable::adopt_session(const std::string& id, std::optional<Registration> registration,
                              bool accelerate) {
  Entry& entry = entries_[id];
  entry.has_session = true;
  entry.registration = std::move(registration);
  entry.accelerate = accelerate;
}

Status JoinTable::set_acceleration(const std::string& id, bool on) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return unknown(id);
  found->second.accelerate = on;
  return {};
}

const JoinTable::Entry* JoinTable::find(const std::string& id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second;
}

}  // namespace sockhop::core
