#include "sys/legacy_entries.h"

// Before the kernel's headers: those then leave out what it defines.
#include <netinet/in.h>
//
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4/ip_tables.h>
#include <linux/netfilter_ipv6/ip6_tables.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "sys/xt_translation.h"

namespace sockhop::sys {
namespace {

using core::Hook;
using core::Order;
using core::PacketField;
using core::RuleProgram;
using core::RuleVerdict;
using Bytes = std::vector<std::uint8_t>;

// A header's match on one field: (field & mask) compared with value.
struct Masked {
  Bytes value;
  Bytes mask;
  bool negated;
};

bool is_zero(const Bytes& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

void append_compare(Masked masked, RuleProgram& rule) {
  const Bytes none(masked.mask.size());
  for (std::size_t i = 0; i < none.size(); ++i) masked.value[i] &= masked.mask[i];
  rule.push_back(core::Combine{0, 0, std::move(masked.mask), none});
  rule.push_back(
      core::Compare{masked.negated ? Order::unequal : Order::equal, 0, std::move(masked.value)});
}

void append_header(std::uint16_t offset, Masked masked, RuleProgram& rule) {
  if (is_zero(masked.mask) && !masked.negated) return;
  rule.push_back(core::LoadHeader{false, offset, 0, static_cast<std::uint8_t>(masked.mask.size())});
  append_compare(std::move(masked), rule);
}

void append_name(PacketField field, Masked masked, RuleProgram& rule) {
  if (is_zero(masked.mask)) return;
  rule.push_back(core::LoadField{field, 0, 16});
  append_compare(std::move(masked), rule);
}

void append_protocol(std::uint8_t protocol, bool negated, RuleProgram& rule) {
  if (protocol == 0) return;
  rule.push_back(core::LoadField{PacketField::l4_protocol, 0, 1});
  rule.push_back(core::Compare{negated ? Order::unequal : Order::equal, 0, {protocol}});
}

template <class T>
Bytes bytes_of(const T& value) {
  Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

template <class Header>
void append_names(const Header& header, RuleProgram& rule) {
  static_assert(IPT_INV_VIA_IN == IP6T_INV_VIA_IN && IPT_INV_VIA_OUT == IP6T_INV_VIA_OUT &&
                IPT_INV_SRCIP == IP6T_INV_SRCIP && IPT_INV_DSTIP == IP6T_INV_DSTIP &&
                IPT_INV_PROTO == IP6T_INV_PROTO);
  append_name(PacketField::in_name,
              {bytes_of(header.iniface), bytes_of(header.iniface_mask),
               (header.invflags & IPT_INV_VIA_IN) != 0},
              rule);
  append_name(PacketField::out_name,
              {bytes_of(header.outiface), bytes_of(header.outiface_mask),
               (header.invflags & IPT_INV_VIA_OUT) != 0},
              rule);
}

// The two families differ in these types and numbers only.
struct V4 {
  using Entry = ipt_entry;
  static bool jumps_for_good(const Entry& entry) { return (entry.ip.flags & IPT_F_GOTO) != 0; }
  static void append_header_match(const Entry& entry, RuleProgram& rule) {
    const auto& ip = entry.ip;
    append_header(12, {bytes_of(ip.src), bytes_of(ip.smsk), (ip.invflags & IPT_INV_SRCIP) != 0},
                  rule);
    append_header(16, {bytes_of(ip.dst), bytes_of(ip.dmsk), (ip.invflags & IPT_INV_DSTIP) != 0},
                  rule);
    append_names(ip, rule);
    append_protocol(static_cast<std::uint8_t>(ip.proto), (ip.invflags & IPT_INV_PROTO) != 0, rule);
    // Fragments that are not the first; a SYN is none, later packets may be.
    if ((ip.flags & IPT_F_FRAG) != 0) rule.push_back(core::Unsure{});
  }
};
struct V6 {
  using Entry = ip6t_entry;
  static bool jumps_for_good(const Entry& entry) { return (entry.ipv6.flags & IP6T_F_GOTO) != 0; }
  static void append_header_match(const Entry& entry, RuleProgram& rule) {
    const auto& ip = entry.ipv6;
    append_header(8, {bytes_of(ip.src), bytes_of(ip.smsk), (ip.invflags & IP6T_INV_SRCIP) != 0},
                  rule);
    append_header(24, {bytes_of(ip.dst), bytes_of(ip.dmsk), (ip.invflags & IP6T_INV_DSTIP) != 0},
                  rule);
    append_names(ip, rule);
    if ((ip.flags & IP6T_F_PROTO) != 0) {
      append_protocol(static_cast<std::uint8_t>(ip.proto), (ip.invflags & IP6T_INV_PROTO) != 0,
                      rule);
    }
    if ((ip.flags & IP6T_F_TOS) != 0) rule.push_back(core::Unsure{});
  }
};

template <class T>
bool read_at(std::span<const char> bytes, std::size_t offset, T& value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return true;
}

template <std::size_t N>
std::string_view text_of(const char (&name)[N]) {
  const std::string_view all(name, N);
  return all.substr(0, all.find('\0'));
}

// One entry, with what it holds: matches, then a target.
template <class Family>
class EntryReader {
 public:
  using Entry = typename Family::Entry;

  EntryReader(const LegacyTable& table, core::RuleSetBuilder& builder, std::string key)
      : table_(table), builder_(builder), key_(std::move(key)) {}

  struct Read {
    RuleProgram rule;
    bool heads_chain = false;  // the next entry begins a chain of the user's
  };

  /// Nothing where the bytes make no sense.
  std::optional<Read> read(std::size_t at, const Entry& entry) const {
    Read read;
    if (entry.target_offset < sizeof(Entry) || entry.target_offset > entry.next_offset) return {};
    Family::append_header_match(entry, read.rule);
    const auto bytes = table_.entries.subspan(at, entry.next_offset);
    if (!append_matches(bytes.first(entry.target_offset), read.rule)) return {};
    xt_entry_target target{};
    if (!read_at(bytes, entry.target_offset, target)) return {};
    const auto name = text_of(target.u.user.name);
    read.heads_chain = name == XT_ERROR_TARGET;
    if (name.empty()) {
      xt_standard_target standard{};
      if (!read_at(bytes, entry.target_offset, standard)) return {};
      read.rule.push_back(verdict_of(standard.verdict, Family::jumps_for_good(entry)));
      return read;
    }
    const auto info = bytes.subspan(entry.target_offset + sizeof(xt_entry_target));
    append_xt_target({name, target.u.user.revision, info}, read.rule);
    return read;
  }

  [[nodiscard]] std::string key_at(std::uint32_t offset) const {
    return key_ + " entry " + std::to_string(offset);
  }

 private:
  static bool append_matches(std::span<const char> bytes, RuleProgram& rule) {
    std::size_t at = sizeof(Entry);
    while (at < bytes.size()) {
      xt_entry_match match{};
      if (!read_at(bytes, at, match)) return false;
      const std::size_t size = match.u.match_size;
      if (size < sizeof match || size > bytes.size() - at) return false;
      const auto info = bytes.subspan(at + sizeof match, size - sizeof match);
      append_xt_match({text_of(match.u.user.name), match.u.user.revision, info}, rule);
      at += size;
    }
    return true;
  }

  // A standard target holds -verdict - 1, XT_RETURN, or the offset of the entry that it jumps to.
  [[nodiscard]] RuleVerdict verdict_of(std::int32_t verdict, bool for_good) const {
    using Kind = RuleVerdict::Kind;
    if (verdict >= 0) {
      return {for_good ? Kind::go_to : Kind::jump,
              builder_.chain(key_at(static_cast<std::uint32_t>(verdict)))};
    }
    if (verdict == XT_RETURN) return {Kind::back, -1};
    return {verdict == -NF_ACCEPT - 1 ? Kind::accept : Kind::harm, -1};
  }

  const LegacyTable& table_;
  core::RuleSetBuilder& builder_;
  std::string key_;
};

struct HookName {
  int number;
  Hook hook;
  const char* name;
};
constexpr std::array kHooks{HookName{NF_INET_PRE_ROUTING, Hook::prerouting, "PREROUTING"},
                            HookName{NF_INET_LOCAL_IN, Hook::input, "INPUT"},
                            HookName{NF_INET_FORWARD, Hook::forward, "FORWARD"},
                            HookName{NF_INET_LOCAL_OUT, Hook::output, "OUTPUT"},
                            HookName{NF_INET_POST_ROUTING, Hook::postrouting, "POSTROUTING"}};

// linux/netfilter_ipv4.h: enum nf_ip_hook_priorities.
std::int32_t priority_of(std::string_view table, Hook hook) {
  if (table == "raw") return -300;
  if (table == "mangle") return -150;
  if (table == "security") return 50;
  if (table != "nat") return 0;
  return hook == Hook::prerouting || hook == Hook::output ? -100 : 100;
}

/// The builtin chain that begins at the offset, if one does.
template <class Reader>
std::string define_builtin(const LegacyTable& table, std::uint32_t offset, const Reader& reader,
                           core::RuleSetBuilder& builder) {
  for (const auto& hook : kHooks) {
    const auto number = static_cast<std::size_t>(hook.number);
    const bool here =
        (table.valid_hooks >> number & 1U) != 0 && table.hook_entries.at(number) == offset;
    if (!here) continue;
    auto key = reader.key_at(offset);
    auto& chain = builder.define(key);
    chain.base = true;
    chain.name = std::string(table.v6 ? "ip6tables " : "iptables ") + std::string(table.name) +
                 " " + hook.name;
    chain.family = table.v6 ? core::RuleFamily::v6 : core::RuleFamily::v4;
    chain.hook = hook.hook;
    chain.priority = priority_of(table.name, hook.hook);
    chain.nat = table.name == "nat";
    return key;
  }
  return {};
}

// Chains lie one after the other: a builtin one from its hook's entry on, one of the user's behind
// an ERROR target. Each ends with an entry of its own: the policy, or a return.
template <class Family>
bool add_entries(const LegacyTable& table, core::RuleSetBuilder& builder) {
  using Entry = typename Family::Entry;
  const EntryReader<Family> reader(
      table, builder, std::string(table.v6 ? "ip6tables " : "iptables ") + std::string(table.name));
  std::string chain;
  bool headed = false;
  for (std::size_t at = 0; at < table.entries.size();) {
    Entry entry{};
    if (!read_at(table.entries, at, entry)) return false;
    if (entry.next_offset < sizeof(Entry) || entry.next_offset > table.entries.size() - at) {
      return false;
    }
    const auto offset = static_cast<std::uint32_t>(at);
    if (auto builtin = define_builtin(table, offset, reader, builder); !builtin.empty()) {
      chain = std::move(builtin);
    } else if (headed) {
      chain = reader.key_at(offset);
      builder.define(chain);
    }
    auto read = reader.read(at, entry);
    if (!read) return false;
    headed = read->heads_chain;
    if (headed) chain.clear();
    if (!chain.empty()) builder.add_rule(chain, std::move(read->rule));
    at += entry.next_offset;
  }
  return true;
}

}  // namespace

bool add_legacy_table(const LegacyTable& table, core::RuleSetBuilder& builder) {
  return table.v6 ? add_entries<V6>(table, builder) : add_entries<V4>(table, builder);
}

}  // namespace sockhop::sys
