#include "keeper/waiting_file.h"

#include <cerrno>
#include <cstdio>
#include <utility>

#include "control.pb.h"
#include "keeper/registration.h"
#include "sys/messages/convert.h"
#include "sys/text_file.h"

namespace sockhop::keeper {

Status write_waiting(const sys::RuntimeDir& dir, const core::JoinTable& table) {
  internal::WaitingRegistrations all;
  for (const auto& [id, entry] : table.entries()) {
    if (entry.has_session || !entry.registration) continue;
    auto& one = *all.add_waiting();
    one.set_off(!entry.accelerate);
    auto& request = *one.mutable_request();
    request.set_container(id);
    for (const auto& port : entry.registration->ports) internal::fill(*request.add_ports(), port);
    for (const auto& rule : entry.registration->rules) request.add_rules(core::to_string(rule));
  }
  if (all.waiting().empty()) {
    std::remove(dir.waiting().c_str());
    return {};
  }
  if (auto made = sys::append_text(dir.waiting(), ""); !made) return made;
  return sys::replace_text_file(dir.waiting(), all.SerializeAsString());
}

Result<std::map<std::string, Waiting>> read_waiting(const sys::RuntimeDir& dir) {
  std::map<std::string, Waiting> waiting;
  const auto text = sys::read_text_file(dir.waiting());
  if (!text && text.error().code == ENOENT) return waiting;
  if (!text) return text.error();
  internal::WaitingRegistrations all;
  if (!all.ParseFromString(*text)) return input_error("read", dir.waiting() + ": unreadable");
  for (const auto& one : all.waiting()) {
    auto registration = registration_of(one.request());
    if (registration) waiting[one.request().container()] = {std::move(*registration), !one.off()};
  }
  return waiting;
}

}  // namespace sockhop::keeper
