// Errors as gRPC knows them.
#pragma once

#include <grpcpp/support/status.h>

#include "base/result.h"

namespace sockhop::control {

/// One table from errno to canonical code; the message is what the error tells people.
grpc::Status to_status(const Error& error);

}  // namespace sockhop::control
