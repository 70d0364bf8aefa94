// What the keeper has its sessions remember for the one that comes after it.
#pragma once

#include <optional>
#include <string>

#include "core/admission.h"
#include "core/join.h"
#include "session.pb.h"

namespace sockhop::keeper {

/// What a restarted keeper has to know about a container besides what its session does.
struct Notes {
  std::optional<core::Registration> registration;
  core::ContainerMark mark;
};
std::string to_notes(const Notes& notes);
/// Of a session's status; a registration that cannot be read is none.
Notes notes_of(const internal::Status& status);

}  // namespace sockhop::keeper
