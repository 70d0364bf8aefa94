#include "cli/client.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <chrono>
#include <cstdio>
#include <utility>

#include "sys/runtime_dir.h"
#include "sys/unix_socket.h"

namespace sockhop::cli {
namespace {

// The daemon itself gives up on a session after 2 s and on everything after 4 s.
constexpr std::chrono::seconds kPatience{6};

}  // namespace

Result<Client> Client::open(std::string socket) {
  if (socket.empty()) {
    const auto dir = sys::find_runtime_dir();
    if (!dir) return dir.error();
    socket = dir->control_socket();
  }
  // Refused at once when nobody listens; a connection that is lost later is made again, because
  // sockhop-control may be restarting.
  if (auto listening = sys::connect_unix(socket, sys::SocketKind::stream); !listening) {
    return Error{listening.error().code, "sockhopd",
                 "does not answer at " + socket + "; is it running?"};
  }
  auto channel = grpc::CreateChannel("unix:" + socket, grpc::InsecureChannelCredentials());
  return Client(std::move(socket), v1::ContainerService::NewStub(channel));
}

void Client::set_deadline(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
  context.set_wait_for_ready(true);
}

ExitStatus Client::report(const grpc::Status& status) const {
  if (status.ok()) return kDone;
  const bool unreachable = status.error_code() == grpc::StatusCode::UNAVAILABLE ||
                           status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
  if (unreachable) {
    std::fprintf(stderr, "sockhop: sockhopd does not answer at %s (%s); is it running?\n",
                 socket_.c_str(), status.error_message().c_str());
    return kUnreachable;
  }
  std::fprintf(stderr, "sockhop: %s\n", status.error_message().c_str());
  return kRefused;
}

}  // namespace sockhop::cli
