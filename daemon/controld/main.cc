// sockhop-control: the gRPC server behind sockhop.sock. Started by sockhopd with the channel to it
// as descriptor 3 and the listening socket as 4; ends with it.
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_posix.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <exception>

#include "control/client_door.h"
#include "control/container_service.h"
#include "control/keeper_client.h"
#include "sys/input_wait.h"
#include "sys/peer.h"

namespace {

constexpr int kChannel = 3;
constexpr int kListener = 4;
// A person or a hook at a time: few threads and little memory do.
constexpr int kMaxThreads = 4;
constexpr std::size_t kMaxMemory = 8 * 1024 * 1024;

std::unique_ptr<grpc::Server> build(sockhop::control::ContainerService& service) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ResourceQuota quota("control");
  quota.SetMaxThreads(kMaxThreads).Resize(kMaxMemory);
  grpc::ServerBuilder builder;
  builder.SetResourceQuota(quota);
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::NUM_CQS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MIN_POLLERS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MAX_POLLERS, 1);
  builder.RegisterService(&service);
  return builder.BuildAndStart();
}

int serve() {
  auto peer = sockhop::sys::peer_of(sockhop::FdRef::from_number(kChannel));
  if (!peer) {
    std::fprintf(stderr, "sockhop-control: is started by sockhopd; start that instead\n");
    return 1;
  }
  // Before gRPC makes threads, so that all of them inherit the mask.
  sockhop::sys::end_on_signal();
  sockhop::control::KeeperClient keeper(sockhop::sys::MessageChannel{sockhop::UniqueFd(kChannel)});
  sockhop::control::ContainerService service(keeper, peer->pid);
  const auto server = build(service);
  if (!server) {
    spdlog::error("gRPC does not start");
    return 1;
  }
  {
    const sockhop::control::ClientDoor door(
        sockhop::UniqueFd(kListener), keeper, [&server](sockhop::UniqueFd connection) {
          grpc::AddInsecureChannelFromFd(server.get(), connection.release());
        });
    keeper.run();
  }
  server->GetHealthCheckService()->SetServingStatus(false);
  server->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(500));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    spdlog::set_default_logger(spdlog::stderr_logger_mt("sockhop-control"));
    CLI::App app("The gRPC server of sockhopd, which starts it.", "sockhop-control");
    app.set_version_flag("--version", "sockhop-control " SOCKHOP_VERSION);
    std::string level = "info";
    app.add_option("--log-level", level, "trace, debug, info, warning, error or off");
    CLI11_PARSE(app, argc, argv);
    spdlog::set_level(spdlog::level::from_str(level));
    return serve();
  } catch (const std::exception& error) {  // of the libraries: our own code throws nothing
    std::fprintf(stderr, "sockhop-control: %s\n", error.what());
    return 1;
  }
}
