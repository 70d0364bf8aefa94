#include "control/status.h"

namespace sockhop::control {
namespace {

grpc::StatusCode code_of(int error) {
  switch (error) {
    case EINVAL:
      return grpc::StatusCode::INVALID_ARGUMENT;
    case ENOENT:
      return grpc::StatusCode::NOT_FOUND;
    case EEXIST:
      return grpc::StatusCode::ALREADY_EXISTS;
    case EADDRINUSE:
    case EADDRNOTAVAIL:
    case EACCES:
      return grpc::StatusCode::FAILED_PRECONDITION;
    case EPERM:
      return grpc::StatusCode::PERMISSION_DENIED;
    case ENOSPC:
    case EMFILE:
    case EMSGSIZE:
      return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case EOPNOTSUPP:
      return grpc::StatusCode::UNIMPLEMENTED;
    case EPIPE:
    case EBUSY:
    case EAGAIN:
    case ETIMEDOUT:
      return grpc::StatusCode::UNAVAILABLE;
    default:
      return grpc::StatusCode::INTERNAL;
  }
}

}  // namespace

grpc::Status to_status(const Error& error) {
  return {code_of(error.code), error.detail.empty() ? to_string(error) : error.detail};
}

}  // namespace sockhop::control
