#include "control/convert.h"

#include <cstring>
#include <system_error>

#include "core/endpoint.h"
#include "sys/messages/convert.h"

namespace sockhop::control {
namespace {

constexpr std::uint32_t kLastPort = 65535;

Result<std::string> address_bytes(const std::string& text) {
  const auto address = core::Address::parse(text);
  if (!address) {
    return input_error("address", "\"" + text + "\" is no IP address; write 10.0.2.2 or fd00::2");
  }
  return internal::bytes_of(*address);
}

std::string address_text(const std::string& bytes) {
  const auto address = internal::address_of(bytes);
  return address ? core::to_string(*address) : "?";
}

bool is_port(std::uint32_t port) { return port >= 1 && port <= kLastPort; }

std::uint32_t to_internal(v1::Protocol protocol) {
  return protocol == v1::PROTOCOL_UDP ? internal::kUdp : internal::kTcp;
}

void fill(v1::PublishedPort& port, const internal::Port& message) {
  port.set_host_address(address_text(message.host_address()));
  port.set_host_port(message.host_port());
  port.set_container_port(message.container_port());
  port.set_protocol(message.protocol() == internal::kUdp ? v1::PROTOCOL_UDP : v1::PROTOCOL_TCP);
}

void fill_status(v1::Container& container, const internal::Status& status) {
  container.clear_ports();
  for (const auto& message : status.ports()) {
    auto& port = *container.add_ports();
    fill(*port.mutable_port(), message.port());
    port.set_listening(message.listening());
    if (message.problem() != 0) {
      port.set_problem(std::generic_category().message(message.problem()));
    }
    port.set_injected(message.injected());
    port.set_relayed(message.relayed());
  }
  for (const auto& stay : status.stays()) {
    auto& count = *container.add_stays();
    count.set_name(stay.name());
    count.set_value(stay.value());
  }
  container.set_hops(status.hops());
  container.set_calls(status.calls());
  container.set_guard_pid(status.guard_pid());
  container.set_engine_pid(status.engine_pid());
  container.set_engine_restarts(status.engine_restarts());
  container.set_notify_fds(status.notify_fds());
}

v1::Verdict verdict_of(const std::string& name) {
  if (name == "hop") return v1::VERDICT_HOP;
  if (name == "stay") return v1::VERDICT_STAY;
  if (name == "deny") return v1::VERDICT_DENY;
  return v1::VERDICT_UNSPECIFIED;
}

}  // namespace

Result<internal::Port> to_internal(const v1::PublishedPort& port) {
  if (!is_port(port.host_port()) || !is_port(port.container_port())) {
    return input_error("port", "host_port and container_port must be 1 to 65535");
  }
  auto address = address_bytes(port.host_address().empty() ? "0.0.0.0" : port.host_address());
  if (!address) return address.error();
  internal::Port message;
  message.set_host_address(std::move(*address));
  message.set_host_port(port.host_port());
  message.set_container_port(port.container_port());
  message.set_protocol(to_internal(port.protocol()));
  return message;
}

Result<internal::ExplainRequest> to_internal(const v1::ExplainRequest& request) {
  if (!is_port(request.port())) return input_error("port", "port must be 1 to 65535");
  auto address = address_bytes(request.address());
  if (!address) return address.error();
  internal::ExplainRequest message;
  message.set_address(std::move(*address));
  message.set_port(request.port());
  message.set_protocol(to_internal(request.protocol()));
  return message;
}

v1::Container to_public(const internal::ContainerState& state) {
  v1::Container container;
  container.set_id(state.container());
  container.set_registered(state.registered());
  container.set_running(state.running());
  container.set_unreachable(state.unreachable());
  container.set_accelerate(state.accelerate());
  for (const auto& port : state.ports()) fill(*container.add_ports()->mutable_port(), port);
  if (state.has_status()) fill_status(container, state.status());
  return container;
}

v1::ExplainResponse to_public(const internal::Explanation& explanation) {
  v1::ExplainResponse response;
  response.set_verdict(verdict_of(explanation.verdict()));
  response.set_reason(explanation.reason());
  for (const auto& step : explanation.steps()) {
    auto& into = *response.add_steps();
    into.set_where(step.where());
    into.set_what(step.what());
  }
  return response;
}

}  // namespace sockhop::control
