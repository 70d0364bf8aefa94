#include "cli/commands.h"

#include <cstdio>
#include <utility>

#include "core/port_table.h"

namespace sockhop::cli {
namespace {

ExitStatus usage(const Error& error) {
  std::fprintf(stderr, "sockhop: %s\n", to_string(error).c_str());
  return kUsage;
}

const char* word_of(v1::Verdict verdict) {
  switch (verdict) {
    case v1::VERDICT_HOP:
      return "hop";
    case v1::VERDICT_STAY:
      return "stay";
    case v1::VERDICT_DENY:
      return "deny";
    default:  // also what a newer daemon may say
      return "unknown";
  }
}

}  // namespace

ExitStatus register_container(Client& client, const RegisterOptions& options) {
  v1::RegisterRequest request;
  request.set_container_id(options.container);
  for (const auto& text : options.ports) {
    const auto port = core::parse_published_port(text);
    if (!port) return usage(port.error());
    auto& into = *request.add_ports();
    into.set_host_address(core::to_string(port->host.address));
    into.set_host_port(port->host.port);
    into.set_container_port(port->container_port);
    into.set_protocol(port->protocol == core::Protocol::udp ? v1::PROTOCOL_UDP : v1::PROTOCOL_TCP);
  }
  for (const auto& rule : options.rules) request.add_rules(rule);
  v1::RegisterResponse response;
  return client.call(&v1::ContainerService::Stub::Register, request, response);
}

ExitStatus unregister_container(Client& client, const std::string& container) {
  v1::UnregisterRequest request;
  request.set_container_id(container);
  v1::UnregisterResponse response;
  return client.call(&v1::ContainerService::Stub::Unregister, request, response);
}

ExitStatus explain(Client& client, const std::string& container, const std::string& destination) {
  const auto endpoint = core::parse_endpoint(destination);
  if (!endpoint) return usage(endpoint.error());
  v1::ExplainRequest request;
  request.set_container_id(container);
  request.set_address(core::to_string(endpoint->address));
  request.set_port(endpoint->port);
  v1::ExplainResponse response;
  const auto status = client.call(&v1::ContainerService::Stub::Explain, request, response);
  if (status != kDone) return status;
  std::printf("%s: %s\n", word_of(response.verdict()), response.reason().c_str());
  for (const auto& step : response.steps()) {
    std::printf("  %-10s %s\n", step.where().c_str(), step.what().c_str());
  }
  return kDone;
}

ExitStatus set_acceleration(Client& client, const std::string& container, bool on) {
  v1::SetRequest request;
  request.set_container_id(container);
  request.set_accelerate(on);
  v1::SetResponse response;
  return client.call(&v1::ContainerService::Stub::Set, request, response);
}

}  // namespace sockhop::cli
