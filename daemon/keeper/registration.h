// What `sockhop register` asks for, out of its message.
#pragma once

#include "base/result.h"
#include "control.pb.h"
#include "core/join.h"

namespace sockhop::keeper {

/// EINVAL names the port or the rule that cannot be.
Result<core::Registration> registration_of(const internal::RegisterContainer& request);

}  // namespace sockhop::keeper
