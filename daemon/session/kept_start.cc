#include "session/kept_start.h"

#include <utility>

#include "sys/engine_process.h"

namespace sockhop::session {

Result<internal::Start> kept_start(const sys::SessionMemory& memory) {
  const auto bytes = sys::bytes_of_fd(sys::kept_fd(memory, sys::Kept::start, 0));
  if (!bytes) return bytes.error();
  internal::Start start;
  if (!start.ParseFromString(*bytes)) return input_error("start", "unreadable");
  return start;
}

Status keep_start(sys::SessionMemory& memory, const internal::Start& start) {
  auto text = sys::bytes_to_fd(start.SerializeAsString());
  if (!text) return text.error();
  sys::drop_kept(memory, sys::Kept::start, 0);
  const auto kept = sys::keep_fd(memory, sys::Kept::start, 0, std::move(*text));
  if (!kept) return kept.error();
  return {};
}

}  // namespace sockhop::session
