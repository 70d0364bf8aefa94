#include "keeper/registration.h"

#include "sys/messages/convert.h"

namespace sockhop::keeper {

Result<core::Registration> registration_of(const internal::RegisterContainer& request) {
  core::Registration registration;
  for (const auto& message : request.ports()) {
    auto port = internal::port_of(message);
    if (!port) return port.error();
    registration.ports.push_back(*port);
  }
  for (const auto& text : request.rules()) {
    auto rule = core::parse_rule(text);
    if (!rule) return rule.error();
    registration.rules.push_back(*rule);
  }
  return registration;
}

}  // namespace sockhop::keeper
