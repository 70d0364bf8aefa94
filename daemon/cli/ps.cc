#include <google/protobuf/util/json_util.h>

#include <cstdio>
#include <string>

#include "cli/commands.h"

namespace sockhop::cli {
namespace {

using google::protobuf::util::JsonPrintOptions;

std::string state_of(const v1::Container& container) {
  if (!container.running()) return "waiting";
  if (container.unreachable()) return "stuck";
  return container.accelerate() ? "on" : "off";
}

std::string text_of(const v1::PortState& state) {
  const auto& port = state.port();
  const bool v6 = port.host_address().find(':') != std::string::npos;
  return (v6 ? "[" + port.host_address() + "]" : port.host_address()) + ":" +
         std::to_string(port.host_port()) + "->" + std::to_string(port.container_port()) +
         (port.protocol() == v1::PROTOCOL_UDP ? "/udp" : "/tcp");
}

void print_container(const v1::Container& container) {
  std::uint64_t injected = 0;
  for (const auto& state : container.ports()) injected += state.injected() + state.relayed();
  std::printf("%-24s %-8s %8llu %8llu\n", container.id().c_str(), state_of(container).c_str(),
              static_cast<unsigned long long>(container.hops()),
              static_cast<unsigned long long>(injected));
  for (const auto& state : container.ports()) {
    const std::string problem = "cannot listen (" + state.problem() + ")";
    std::printf("  port %s %s, %llu injected, %llu relayed\n", text_of(state).c_str(),
                !state.problem().empty() ? problem.c_str()
                : state.listening()      ? "listening"
                                         : "reserved",
                static_cast<unsigned long long>(state.injected()),
                static_cast<unsigned long long>(state.relayed()));
  }
  for (const auto& stay : container.stays()) {
    std::printf("  stayed %llu, %s\n", static_cast<unsigned long long>(stay.value()),
                stay.name().c_str());
  }
}

}  // namespace

ExitStatus ps(Client& client, bool json) {
  v1::ListResponse response;
  const auto status = client.call(&v1::ContainerService::Stub::List, v1::ListRequest(), response);
  if (status != kDone) return status;
  if (json) {
    JsonPrintOptions options;
    options.add_whitespace = true;
    options.always_print_primitive_fields = true;
    options.preserve_proto_field_names = true;
    std::string text;
    if (!google::protobuf::util::MessageToJsonString(response, &text, options).ok()) {
      std::fprintf(stderr, "sockhop: the answer has no JSON form\n");
      return kRefused;
    }
    std::fputs(text.c_str(), stdout);
    return kDone;
  }
  std::printf("%-24s %-8s %8s %8s\n", "CONTAINER", "STATE", "HOPS", "SERVED");
  for (const auto& container : response.containers()) print_container(container);
  return kDone;
}

}  // namespace sockhop::cli
