#include "core/runtime_command.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "core/json.h"

namespace sockhop::core {
namespace {

// Options that take the next word as their value, of runc 1.0 to 1.4 and crun 0.19 to 1.29.
constexpr std::array<std::string_view, 7> kGlobalValues{
    "log", "log-format", "log-level", "root", "criu", "rootless", "cgroup-manager"};
constexpr std::array<std::string_view, 8> kCreateValues{
    "bundle", "b", "config", "f", "console-socket", "pid-file", "preserve-fds", "log"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// One word of the command line; `name` is empty for what is no option.
struct Word {
  std::string_view name;
  std::optional<std::string_view> value;
};

Word split(std::string_view text) {
  if (text.size() < 2 || text[0] != '-') return {};
  std::string_view name = text.substr(text[1] == '-' ? 2 : 1);
  const auto equals = name.find('=');
  if (equals == std::string_view::npos) return {name, std::nullopt};
  return {name.substr(0, equals), name.substr(equals + 1)};
}

class Reader {
 public:
  explicit Reader(const std::vector<std::string>& words) : words_(words) {}

  RuntimeCommand read() {
    read_options(kGlobalValues);
    if (at_ == words_.size()) return command_;
    const std::string& name = words_[at_++];
    if (name == "create" || name == "run") {
      command_.kind = RuntimeCommand::Kind::creates;
    } else if (name == "delete") {
      command_.kind = RuntimeCommand::Kind::deletes;
    } else {
      return command_;
    }
    read_options(kCreateValues);
    if (at_ < words_.size()) command_.container = words_[at_];
    return command_;
  }

 private:
  /// Stops at the first word that is no option; "--" is skipped.
  template <std::size_t N>
  void read_options(const std::array<std::string_view, N>& with_value) {
    for (; at_ < words_.size(); ++at_) {
      if (words_[at_] == "--") {
        ++at_;
        return;
      }
      const Word word = split(words_[at_]);
      if (word.name.empty()) return;
      if (word.value) {
        take(word.name, *word.value);
      } else if (contains(with_value, word.name) && at_ + 1 < words_.size()) {
        take(word.name, words_[++at_]);
      }
    }
  }

  void take(std::string_view name, std::string_view value) {
    if (name == "log") command_.log = value;
    if (name == "log-format") command_.log_is_json = value == "json";
    if (name == "bundle" || name == "b") command_.bundle = value;
    if (name == "config" || name == "f") command_.config_file = value;
  }

  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
  RuntimeCommand command_;
};

}  // namespace

RuntimeCommand parse_runtime_command(const std::vector<std::string>& arguments) {
  return Reader(arguments).read();
}

std::string runtime_log_line(bool json, const std::string& level, const std::string& message,
                             const std::string& time) {
  namespace js = boost::json;
  const auto quoted = [](const std::string& text) { return js::serialize(js::string(text)); };
  if (json) {
    return "{\"level\":" + quoted(level) + ",\"msg\":" + quoted(message) +
           ",\"time\":" + quoted(time) + "}\n";
  }
  return "time=" + quoted(time) + " level=" + level + " msg=" + quoted(message) + "\n";
}

}  // namespace sockhop::core
