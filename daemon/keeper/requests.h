// What sockhop-control asks of the keeper, and the answers.
#pragma once

#include "control.pb.h"
#include "keeper/containers.h"
#include "keeper/control_door.h"

namespace sockhop::keeper {

/// Answers once, now or when the sessions that it takes have answered.
void handle(Containers& containers, const internal::ToKeeper& request, ControlDoor::Answer answer);

}  // namespace sockhop::keeper
