// Between the public interface and the internal messages.
#pragma once

#include "base/result.h"
#include "control.pb.h"
#include "sockhop/v1/container.pb.h"

namespace sockhop::control {

Result<internal::Port> to_internal(const v1::PublishedPort& port);
Result<internal::ExplainRequest> to_internal(const v1::ExplainRequest& request);

v1::Container to_public(const internal::ContainerState& state);
v1::ExplainResponse to_public(const internal::Explanation& explanation);

}  // namespace sockhop::control
