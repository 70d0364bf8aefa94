#include "keeper/notes.h"

#include <algorithm>

#include "sys/messages/convert.h"

namespace sockhop::keeper {

std::string to_notes(const Notes& notes) {
  internal::KeeperNotes message;
  message.set_registered(notes.registration.has_value());
  if (notes.registration) {
    message.set_own_rules(static_cast<std::uint32_t>(notes.registration->rules.size()));
  }
  message.set_network(notes.mark.network);
  message.set_mount(notes.mark.mount);
  message.set_pid(notes.mark.pid);
  return message.SerializeAsString();
}

Notes notes_of(const internal::Status& status) {
  Notes notes;
  internal::KeeperNotes message;
  if (!message.ParseFromString(status.keeper_notes())) return notes;
  notes.mark = {message.network(), message.mount(), message.pid()};
  if (!message.registered()) return notes;
  core::Registration registration;
  for (const auto& port_status : status.ports()) {
    if (auto port = internal::port_of(port_status.port())) registration.ports.push_back(*port);
  }
  const auto& rules = status.policy().rules();
  const int own = std::min(static_cast<int>(message.own_rules()), rules.size());
  for (int i = 0; i < own; ++i) {
    if (auto rule = core::parse_rule(rules[i])) registration.rules.push_back(*rule);
  }
  notes.registration = std::move(registration);
  return notes;
}

}  // namespace sockhop::keeper
