#include "control/container_service.h"

#include <utility>

#include "control/convert.h"
#include "control/status.h"
#include "sys/kernel_probe.h"

namespace sockhop::control {
namespace {

grpc::Status status_of(const Result<internal::FromKeeper>& answer) {
  return answer ? grpc::Status::OK : to_status(answer.error());
}

}  // namespace

grpc::Status ContainerService::Register(grpc::ServerContext*, const v1::RegisterRequest* request,
                                        v1::RegisterResponse*) {
  internal::ToKeeper question;
  auto& registration = *question.mutable_register_container();
  registration.set_container(request->container_id());
  for (const auto& port : request->ports()) {
    auto message = to_internal(port);
    if (!message) return to_status(message.error());
    *registration.add_ports() = std::move(*message);
  }
  *registration.mutable_rules() = request->rules();
  return status_of(keeper_.ask(std::move(question)));
}

grpc::Status ContainerService::Unregister(grpc::ServerContext*,
                                          const v1::UnregisterRequest* request,
                                          v1::UnregisterResponse*) {
  internal::ToKeeper question;
  question.mutable_unregister_container()->set_container(request->container_id());
  return status_of(keeper_.ask(std::move(question)));
}

grpc::Status ContainerService::List(grpc::ServerContext*, const v1::ListRequest*,
                                    v1::ListResponse* response) {
  std::string after;
  for (bool more = true; more;) {
    internal::ToKeeper question;
    question.mutable_list_containers()->set_after(after);
    const auto answer = keeper_.ask(std::move(question));
    if (!answer) return to_status(answer.error());
    for (const auto& state : answer->containers().containers()) {
      *response->add_containers() = to_public(state);
      after = state.container();
    }
    more = answer->containers().more() && answer->containers().containers_size() > 0;
  }
  return grpc::Status::OK;
}

grpc::Status ContainerService::Explain(grpc::ServerContext*, const v1::ExplainRequest* request,
                                       v1::ExplainResponse* response) {
  auto destination = to_internal(*request);
  if (!destination) return to_status(destination.error());
  internal::ToKeeper question;
  question.mutable_explain()->set_container(request->container_id());
  *question.mutable_explain()->mutable_destination() = std::move(*destination);
  const auto answer = keeper_.ask(std::move(question));
  if (answer) *response = to_public(answer->explanation());
  return status_of(answer);
}

grpc::Status ContainerService::Set(grpc::ServerContext*, const v1::SetRequest* request,
                                   v1::SetResponse*) {
  if (!request->has_accelerate()) {
    return to_status(input_error("set", "name what to set: accelerate"));
  }
  internal::ToKeeper question;
  question.mutable_set_acceleration()->set_container(request->container_id());
  question.mutable_set_acceleration()->set_on(request->accelerate());
  return status_of(keeper_.ask(std::move(question)));
}

grpc::Status ContainerService::GetInfo(grpc::ServerContext*, const v1::GetInfoRequest*,
                                       v1::GetInfoResponse* response) {
  response->set_api_version("v1");
  response->set_version(SOCKHOP_VERSION);
  response->set_pid(keeper_pid_);
  response->set_kernel(sys::kernel_release());
  for (const char* feature : {"connect-tcp", "publish-tcp", "explain"}) {
    response->add_features(feature);
  }
  return grpc::Status::OK;
}

}  // namespace sockhop::control
