#include "core/uplink_command.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace sockhop::core {
namespace {

// An option as getopt_long knows it: a long name, a letter ('\0' for none), with a value or
// without.
struct Option {
  std::string_view name;
  char letter;
  bool has_value;
};

// slirp4netns 1.2, pasta up to 2025; an unknown long option is taken for one without a value.
constexpr std::array kSlirpOptions{
    Option{"exit-fd", 'e', true},
    Option{"ready-fd", 'r', true},
    Option{"mtu", 'm', true},
    Option{"api-socket", 'a', true},
    Option{"cidr", '\0', true},
    Option{"netns-type", '\0', true},
    Option{"userns-path", '\0', true},
    Option{"outbound-addr", '\0', true},
    Option{"outbound-addr6", '\0', true},
    Option{"macaddress", '\0', true},
    Option{"target-type", '\0', true},
};
constexpr std::array kPastaOptions{
    Option{"log-file", 'l', true},
    Option{"log-size", '\0', true},
    Option{"runas", '\0', true},
    Option{"ns-ifname", 'I', true},
    Option{"fd", 'F', true},
    Option{"pcap", 'p', true},
    Option{"pid", 'P', true},
    Option{"mtu", 'm', true},
    Option{"address", 'a', true},
    Option{"netmask", 'n', true},
    Option{"mac-addr", 'M', true},
    Option{"gateway", 'g', true},
    Option{"interface", 'i', true},
    Option{"outbound", 'o', true},
    Option{"outbound-if4", '\0', true},
    Option{"outbound-if6", '\0', true},
    Option{"dns", 'D', true},
    Option{"search", 'S', true},
    Option{"dns-forward", '\0', true},
    Option{"dns-host", '\0', true},
    Option{"map-host-loopback", '\0', true},
    Option{"map-guest-addr", '\0', true},
    Option{"tcp-ports", 't', true},
    Option{"udp-ports", 'u', true},
    Option{"tcp-ns", 'T', true},
    Option{"udp-ns", 'U', true},
    Option{"userns", '\0', true},
    Option{"netns", '\0', true},
    Option{"ns-mac-addr", '\0', true},
    Option{"hostname", 'H', true},
    Option{"fqdn", '\0', true},
    Option{"socket", 's', true},
};

struct Given {
  std::string_view name;  // the long name; empty for what stands alone
  std::string_view value;
};

template <class List>
const Option* by_letter(const List& options, char letter) {
  const auto found = std::find_if(options.begin(), options.end(),
                                  [&](const Option& option) { return option.letter == letter; });
  return found == options.end() ? nullptr : &*found;
}

template <class List>
const Option* by_name(const List& options, std::string_view name) {
  const auto found = std::find_if(options.begin(), options.end(),
                                  [&](const Option& option) { return option.name == name; });
  return found == options.end() ? nullptr : &*found;
}

// Splits arguments as getopt_long does. `stops` is for programs that take a command: nothing after
// the first word is an option.
template <class List>
class Splitter {
 public:
  Splitter(const std::vector<std::string>& arguments, const List& options, bool stops)
      : arguments_(arguments), options_(options), stops_(stops) {}

  std::vector<Given> split() {
    for (at_ = 1; at_ < arguments_.size(); ++at_) {
      const std::string_view word = arguments_[at_];
      if (word == "--") {
        while (++at_ < arguments_.size()) given_.push_back({{}, arguments_[at_]});
      } else if (word.starts_with("--")) {
        long_option(word.substr(2));
      } else if (word.size() > 1 && word.front() == '-') {
        letters(word.substr(1));
      } else {
        given_.push_back({{}, word});
        if (stops_) return std::move(given_);
      }
    }
    return std::move(given_);
  }

 private:
  std::string_view next() {
    if (at_ + 1 >= arguments_.size()) return {};
    return arguments_[++at_];
  }

  void long_option(std::string_view word) {
    const auto equals = word.find('=');
    if (equals != std::string_view::npos) {
      given_.push_back({word.substr(0, equals), word.substr(equals + 1)});
      return;
    }
    const Option* option = by_name(options_, word);
    given_.push_back({word, option != nullptr && option->has_value ? next() : ""});
  }

  void letters(std::string_view word) {
    for (; !word.empty(); word.remove_prefix(1)) {
      const Option* option = by_letter(options_, word.front());
      if (option == nullptr) continue;
      given_.push_back({option->name, word.size() > 1 ? word.substr(1) : next()});
      return;
    }
  }

  const std::vector<std::string>& arguments_;
  const List& options_;
  bool stops_;
  std::size_t at_ = 0;
  std::vector<Given> given_;
};

std::optional<std::int64_t> as_pid(std::string_view text) {
  std::int64_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc{} || end != text.data() + text.size() || pid <= 0) return std::nullopt;
  return pid;
}

// "10.0.2.0/24" maps its second and third address to the host and its resolver.
void add_slirp_addresses(std::string_view cidr, std::vector<Address>& mapped) {
  const auto network = Address::parse(cidr.substr(0, cidr.find('/')));
  if (!network || !network->is_v4()) return;
  for (const std::uint8_t host : {std::uint8_t{2}, std::uint8_t{3}}) {
    Address address = *network;
    address.bytes.back() = static_cast<std::uint8_t>(address.bytes.back() + host);
    mapped.push_back(address);
  }
}

std::optional<UplinkCommand> parse_slirp(const std::vector<std::string>& arguments) {
  UplinkCommand command;
  command.kind = UplinkKind::slirp4netns;
  std::string_view cidr = "10.0.2.0/24";
  bool by_path = false;
  std::vector<std::string_view> words;
  for (const Given& given : Splitter(arguments, kSlirpOptions, false).split()) {
    if (given.name.empty()) words.push_back(given.value);
    if (given.name.starts_with("outb")) command.outbound_fixed = true;
    if (given.name == "netns-type") by_path = given.value == "path";
    if (given.name == "cidr") cidr = given.value;
    if (given.name == "target-type" && given.value != "netns") return std::nullopt;
  }
  if (words.empty()) return std::nullopt;
  const auto pid = as_pid(words[0]);
  if (!by_path && !pid) return std::nullopt;
  if (by_path) {
    command.target = std::string(words[0]);
  } else {
    command.target = *pid;
  }
  command.device = words.size() > 1 ? words[1] : "tap0";
  add_slirp_addresses(cidr, command.mapped);
  return command;
}

// getopt_long takes any beginning of a name that is no other's.
bool begins(std::string_view given, std::string_view least, std::string_view whole) {
  return given.starts_with(least) && whole.starts_with(given);
}

bool fixes_outbound(const Given& given) {
  return given.name.starts_with("outb") || begins(given.name, "no-t", "no-tcp");
}

bool maps_address(const Given& given) {
  return given.name == "gateway" || given.name == "dns-forward" ||
         given.name == "map-host-loopback" || given.name == "map-guest-addr";
}

void set_pasta_target(std::string_view netns, std::string_view word, UplinkCommand& command) {
  const auto pid = as_pid(word);
  if (!netns.empty()) {
    // A name without a slash is one of ip-netns(8).
    const bool is_path = netns.find('/') != std::string_view::npos;
    command.target = (is_path ? "" : "/run/netns/") + std::string(netns);
  } else if (pid) {
    command.target = *pid;
  } else {
    command.target = UplinkCommand::OfChild{};
  }
}

std::optional<UplinkCommand> parse_pasta(const std::vector<std::string>& arguments) {
  UplinkCommand command;
  command.kind = UplinkKind::pasta;
  std::string_view netns;
  std::string_view interface;
  std::string_view word;
  for (const Given& given : Splitter(arguments, kPastaOptions, true).split()) {
    if (given.name.empty() && word.empty()) word = given.value;
    if (fixes_outbound(given)) command.outbound_fixed = true;
    if (given.name == "netns") netns = given.value;
    if (given.name == "ns-ifname") command.device = given.value;
    if (given.name == "interface") interface = given.value;
    if (maps_address(given)) {
      if (const auto address = Address::parse(given.value)) command.mapped.push_back(*address);
    }
  }
  if (command.device.empty()) command.device = interface;
  set_pasta_target(netns, word, command);
  return command;
}

}  // namespace

std::optional<UplinkCommand> parse_uplink_command(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return std::nullopt;
  const std::string_view path = arguments[0];
  const auto slash = path.rfind('/');
  const auto program = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (program == "slirp4netns") return parse_slirp(arguments);
  if (program == "pasta" || program == "pasta.avx2") return parse_pasta(arguments);
  return std::nullopt;
}

}  // namespace sockhop::core
