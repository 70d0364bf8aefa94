// Registrations whose container has not come, on disk: a keeper that is killed leaves them to the
// next one. (What a session knows needs no file.)
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "core/join.h"
#include "sys/runtime_dir.h"

namespace sockhop::keeper {

struct Waiting {
  core::Registration registration;
  bool accelerate = true;
};

/// Replaces the file by the entries of `table` that wait; without any there is no file.
Status write_waiting(const sys::RuntimeDir& dir, const core::JoinTable& table);
/// By container id; none when there is no file. What cannot be read is left out.
Result<std::map<std::string, Waiting>> read_waiting(const sys::RuntimeDir& dir);

}  // namespace sockhop::keeper
