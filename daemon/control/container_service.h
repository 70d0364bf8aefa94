// sockhop.v1.ContainerService: each call is a question to the keeper and its answer converted.
#pragma once

#include "control/keeper_client.h"
#include "sockhop/v1/container.grpc.pb.h"

namespace sockhop::control {

class ContainerService final : public v1::ContainerService::Service {
 public:
  /// `keeper` must outlive the service; its pid is what GetInfo tells.
  ContainerService(Keeper& keeper, std::int64_t keeper_pid)
      : keeper_(keeper), keeper_pid_(keeper_pid) {}

  grpc::Status Register(grpc::ServerContext* context, const v1::RegisterRequest* request,
                        v1::RegisterResponse* response) override;
  grpc::Status Unregister(grpc::ServerContext* context, const v1::UnregisterRequest* request,
                          v1::UnregisterResponse* response) override;
  grpc::Status List(grpc::ServerContext* context, const v1::ListRequest* request,
                    v1::ListResponse* response) override;
  grpc::Status Explain(grpc::ServerContext* context, const v1::ExplainRequest* request,
                       v1::ExplainResponse* response) override;
  grpc::Status Set(grpc::ServerContext* context, const v1::SetRequest* request,
                   v1::SetResponse* response) override;
  grpc::Status GetInfo(grpc::ServerContext* context, const v1::GetInfoRequest* request,
                       v1::GetInfoResponse* response) override;

 private:
  Keeper& keeper_;
  std::int64_t keeper_pid_;
};

}  // namespace sockhop::control
