#include "core/oci_state.h"

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <optional>
#include <utility>

#include "core/json.h"

namespace sockhop::core {
namespace json = boost::json;

namespace {

constexpr const char* kWhat = "container process state";
constexpr std::string_view kSeccompFd = "seccompFd";
constexpr std::string_view kBlanks = " \t\r\n";

bool is_graph(char c) { return c > ' ' && c <= '~'; }

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '+' || c == '-';
}

/// Reads the members of one object and keeps the first complaint.
class Members {
 public:
  Members(const json::object& object, std::string_view prefix) : object_(object), prefix_(prefix) {}

  std::string text(std::string_view key) {
    const json::value* member = find_member(object_, key);
    if (member == nullptr) return {};
    if (const json::string* value = member->if_string()) return std::string(*value);
    complain(key, "is not a string");
    return {};
  }

  std::int64_t number(std::string_view key) {
    const json::value* member = find_member(object_, key);
    if (member == nullptr) return 0;
    if (const std::int64_t* value = member->if_int64()) return *value;
    complain(key, "is not an integer");
    return 0;
  }

  std::vector<std::string> texts(std::string_view key) {
    const json::value* member = find_member(object_, key);
    if (member == nullptr) return {};
    const json::array* array = member->if_array();
    const auto is_text = [](const json::value& entry) { return entry.is_string(); };
    if (array == nullptr || !std::all_of(array->begin(), array->end(), is_text)) {
      complain(key, "is not an array of strings");
      return {};
    }
    std::vector<std::string> out;
    for (const json::value& entry : *array) out.emplace_back(entry.get_string());
    return out;
  }

  std::map<std::string, std::string> text_map(std::string_view key) {
    const json::value* member = find_member(object_, key);
    if (member == nullptr) return {};
    const json::object* object = member->if_object();
    const auto is_text = [](const json::key_value_pair& entry) {
      return entry.value().is_string();
    };
    if (object == nullptr || !std::all_of(object->begin(), object->end(), is_text)) {
      complain(key, "is not an object of strings");
      return {};
    }
    std::map<std::string, std::string> out;
    for (const auto& entry : *object) {
      out.emplace(std::string(entry.key()), std::string(entry.value().get_string()));
    }
    return out;
  }

  void complain(std::string_view key, std::string_view what) {
    if (complaint_) return;
    complaint_ = input_error(kWhat, std::string(prefix_).append(key).append(" ").append(what));
  }

  [[nodiscard]] const std::optional<Error>& complaint() const { return complaint_; }

 private:
  const json::object& object_;
  std::string_view prefix_;
  std::optional<Error> complaint_;
};

Result<OciState> read_state(const json::object& document) {
  OciState out;
  Members outer(document, "");
  out.fds = outer.texts("fds");
  out.pid = outer.number("pid");
  out.metadata = outer.text("metadata");
  if (std::count(out.fds.begin(), out.fds.end(), kSeccompFd) != 1) {
    outer.complain("fds", "does not name seccompFd exactly once");
  }
  if (outer.complaint()) return *outer.complaint();

  const json::value* state = find_member(document, "state");
  if (state == nullptr || !state->is_object()) return input_error(kWhat, "state is not an object");
  Members inner(state->get_object(), "state.");
  out.id = inner.text("id");
  out.status = inner.text("status");
  out.bundle = inner.text("bundle");
  out.annotations = inner.text_map("annotations");
  if (inner.complaint()) return *inner.complaint();
  if (const Status valid = check_container_id(out.id); !valid) return valid.error();
  return out;
}

}  // namespace

int OciState::seccomp_fd_index() const {
  const auto found = std::find(fds.begin(), fds.end(), kSeccompFd);
  return found == fds.end() ? -1 : static_cast<int>(found - fds.begin());
}

Status check_container_id(std::string_view id) {
  if (id.empty()) return input_error("container id", "is empty");
  if (id.size() > kMaxContainerId) {
    return input_error("container id",
                       "is longer than " + std::to_string(kMaxContainerId) + " bytes");
  }
  if (id.find('/') != std::string_view::npos) return input_error("container id", "holds a '/'");
  if (!std::all_of(id.begin(), id.end(), is_graph)) {
    return input_error("container id", "holds a character that is not printable ASCII");
  }
  return {};
}

std::string session_file_name(std::string_view id, std::size_t room) {
  constexpr std::string_view kSuffix = ".sock";
  // A leading '.' would hide the file; a leading '~' is kept for hashes.
  const bool plain = id.size() + kSuffix.size() <= room && id.front() != '.' &&
                     std::all_of(id.begin(), id.end(), is_plain);
  if (plain) return std::string(id).append(kSuffix);
  const boost::uuids::name_generator_sha1 hash(boost::uuids::ns::oid());
  return "~" + boost::uuids::to_string(hash(std::string(id))) + std::string(kSuffix);
}

struct OciStateReader::State {
  json::stream_parser parser{{}, [] {
                               json::parse_options options;
                               options.max_depth = kMaxJsonDepth;
                               return options;
                             }()};
  std::size_t received = 0;
  bool begun = false;  // the opening brace was seen
  bool over = false;   // an OciState or an Error was given
};

OciStateReader::OciStateReader() : state_(std::make_unique<State>()) {}
OciStateReader::~OciStateReader() = default;
OciStateReader::OciStateReader(OciStateReader&&) noexcept = default;
OciStateReader& OciStateReader::operator=(OciStateReader&&) noexcept = default;

OciStateReader::Progress OciStateReader::feed(std::string_view bytes) {
  if (state_->over) return input_error(kWhat, "bytes after the end");
  state_->over = true;
  state_->received += bytes.size();
  if (state_->received > kMaxOciState) return input_error(kWhat, "longer than 1 MiB");
  if (!state_->begun) {
    const std::size_t first = bytes.find_first_not_of(kBlanks);
    state_->begun = first != std::string_view::npos;
    // A number at top level would never be complete, so this cannot be left to the parser.
    if (state_->begun && bytes[first] != '{') return input_error(kWhat, "not a JSON object");
  }
  boost::system::error_code error;
  state_->parser.write_some(bytes.data(), bytes.size(), error);
  if (error) return input_error(kWhat, "not valid JSON: " + error.message());
  if (state_->parser.done()) {
    Result<OciState> state = read_state(state_->parser.release().get_object());
    if (!state) return state.error();
    return std::move(*state);
  }
  state_->over = false;
  return NeedMore{};
}

}  // namespace sockhop::core
