#include "core/policy.h"

#include <algorithm>
#include <cerrno>

#include "core/text.h"

namespace sockhop::core {
namespace {

constexpr std::uint16_t kMaxPort = 65535;

Error refused(std::string_view text, const char* why) {
  return input_error("rule",
                     "\"" + std::string(text) + "\": " + why +
                         "; write stay|hop|deny|deny=eacces BLOCK[:PORT[-PORT]][/tcp|/udp], "
                         "an IPv6 block with a port as [ADDRESS]/PREFIX:PORT");
}

bool read_action(std::string_view word, Rule& rule) {
  rule.action = word == "stay"  ? RuleAction::stay
                : word == "hop" ? RuleAction::hop
                                : RuleAction::deny;
  if (word == "deny=eacces") rule.deny_error = EACCES;
  return word == "stay" || word == "hop" || word == "deny" || word == "deny=econnrefused" ||
         word == "deny=eacces";
}

// Takes a trailing "/tcp" or "/udp" off; "/8" is a prefix and stays.
Protocol take_protocol(std::string_view& text) {
  for (const auto& [suffix, protocol] : {std::pair{std::string_view("/tcp"), Protocol::tcp},
                                         {std::string_view("/udp"), Protocol::udp}}) {
    if (text.ends_with(suffix)) {
      text.remove_suffix(suffix.size());
      return protocol;
    }
  }
  return Protocol::any;
}

bool read_ports(std::string_view text, Rule& rule) {
  const std::size_t dash = text.find('-');
  const auto first = parse_number(text.substr(0, dash), kMaxPort);
  const auto last = dash == text.npos ? first : parse_number(text.substr(dash + 1), kMaxPort);
  if (!first || !last || *first > *last) return false;
  rule.first_port = static_cast<std::uint16_t>(*first);
  rule.last_port = static_cast<std::uint16_t>(*last);
  return true;
}

struct BlockAndPorts {
  std::string block;
  std::optional<std::string_view> ports;
};

// The brackets of "[fd00::]/8:443" only keep the port apart.
std::optional<BlockAndPorts> split_block(std::string_view text) {
  BlockAndPorts parts;
  std::string_view tail = text;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == text.npos) return std::nullopt;
    parts.block = text.substr(1, close - 1);
    if (parts.block.find(':') == std::string::npos) return std::nullopt;
    tail = text.substr(close + 1);
    if (!tail.empty() && tail.front() != '/' && tail.front() != ':') return std::nullopt;
  } else if (std::ranges::count(text, ':') > 1) {
    return BlockAndPorts{std::string(text), std::nullopt};
  }
  const std::size_t colon = tail.find(':');
  parts.block += tail.substr(0, colon);
  if (colon != tail.npos) parts.ports = tail.substr(colon + 1);
  return parts;
}

bool matches(const Rule& rule, const Endpoint& destination, Protocol protocol) {
  const bool protocol_fits = rule.protocol == Protocol::any || rule.protocol == protocol;
  return protocol_fits && destination.port >= rule.first_port &&
         destination.port <= rule.last_port && rule.addresses.contains(destination.address);
}

std::string action_text(const Rule& rule) {
  switch (rule.action) {
    case RuleAction::stay:
      return "stay";
    case RuleAction::hop:
      return "hop";
    case RuleAction::deny:
      return rule.deny_error == EACCES ? "deny=eacces" : "deny";
  }
  return {};
}

std::string ports_text(const Rule& rule) {
  if (rule.first_port == 0 && rule.last_port == kMaxPort) return {};
  std::string text = ":" + std::to_string(rule.first_port);
  if (rule.last_port != rule.first_port) text += "-" + std::to_string(rule.last_port);
  return text;
}

std::string protocol_text(Protocol protocol) {
  switch (protocol) {
    case Protocol::any:
      return {};
    case Protocol::tcp:
      return "/tcp";
    case Protocol::udp:
      return "/udp";
  }
  return {};
}

}  // namespace

Result<Rule> parse_rule(std::string_view text) {
  Rule rule;
  const std::size_t blank = text.find(' ');
  if (!read_action(text.substr(0, blank), rule)) return refused(text, "the action is unknown");
  if (blank == text.npos) return refused(text, "the addresses are missing");
  std::string_view rest = text.substr(std::min(text.find_first_not_of(' ', blank), text.size()));
  rule.protocol = take_protocol(rest);
  const auto parts = split_block(rest);
  if (!parts) return refused(text, "the brackets do not hold an IPv6 address");
  const auto addresses = Cidr::parse(parts->block);
  if (!addresses) return refused(text, "the addresses are no CIDR block");
  rule.addresses = *addresses;
  if (parts->ports && !read_ports(*parts->ports, rule)) {
    return refused(text, "the ports are no range within 0 to 65535");
  }
  return rule;
}

std::string to_string(const Rule& rule) {
  const std::string ports = ports_text(rule);
  std::string block = to_string(rule.addresses);
  if (!ports.empty() && block.find(':') != std::string::npos) {
    block.insert(block.find('/'), "]").insert(0, "[");
  }
  return action_text(rule) + " " + block + ports + protocol_text(rule.protocol);
}

const Rule* first_match(const std::vector<Rule>& rules, const Endpoint& destination,
                        Protocol protocol) {
  const auto found = std::ranges::find_if(
      rules, [&](const Rule& rule) { return matches(rule, destination, protocol); });
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace sockhop::core
