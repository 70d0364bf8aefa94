// What a runtime, or anybody who may connect, sends with a notify fd.
#include <algorithm>

#include "core/oci_state.h"
#include "require.h"

using namespace sockhop::core;
using sockhop::fuzz::as_text;
using sockhop::fuzz::require;

namespace {

OciStateReader::Progress read_in_pieces(std::string_view text, std::size_t piece) {
  OciStateReader reader;
  OciStateReader::Progress progress;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    progress = reader.feed(text.substr(at, piece));
    if (!std::holds_alternative<OciStateReader::NeedMore>(progress)) break;
  }
  return progress;
}

void check_name(const std::string& id) {
  require(check_container_id(id).has_value(), "an accepted state has a valid id");
  for (const std::size_t room : {std::size_t{0}, std::size_t{69}, std::size_t{107}}) {
    const std::string name = session_file_name(id, room);
    require(name.find('/') == std::string::npos, "a file name stays in its folder");
    require(name.size() <= std::max(room, std::size_t{42}), "a file name has room");
    require(name.front() != '.', "a file name is not hidden");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text = as_text(data, size);
  const auto whole = read_in_pieces(text, std::max<std::size_t>(size, 1));
  for (const std::size_t piece : {1, 3}) {
    const auto split = read_in_pieces(text, piece);
    require(whole.index() == split.index(), "a split changes nothing");
  }
  if (const auto* state = std::get_if<OciState>(&whole)) {
    require(state->seccomp_fd_index() >= 0, "an accepted state names the seccomp fd");
    check_name(state->id);
  }
  return 0;
}
