// The daemon as the command line sees it.
#pragma once

#include <grpcpp/client_context.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "sockhop/v1/container.grpc.pb.h"

namespace sockhop::cli {

/// How a command ended; documented in sockhop(1).
enum ExitStatus { kDone = 0, kRefused = 1, kUsage = 2, kUnreachable = 3 };

class Client {
 public:
  /// `socket`: path of sockhop.sock; empty for the one in XDG_RUNTIME_DIR.
  static Result<Client> open(std::string socket);

  /// Calls a method of the stub, with a deadline; prints what went wrong.
  template <class Request, class Response>
  ExitStatus call(grpc::Status (v1::ContainerService::Stub::*method)(grpc::ClientContext*,
                                                                     const Request&, Response*),
                  const Request& request, Response& response) {
    grpc::ClientContext context;
    set_deadline(context);
    return report((stub_.get()->*method)(&context, request, &response));
  }

 private:
  Client(std::string socket, std::unique_ptr<v1::ContainerService::Stub> stub)
      : socket_(std::move(socket)), stub_(std::move(stub)) {}
  static void set_deadline(grpc::ClientContext& context);
  [[nodiscard]] ExitStatus report(const grpc::Status& status) const;

  std::string socket_;
  std::unique_ptr<v1::ContainerService::Stub> stub_;
};

}  // namespace sockhop::cli
