#include "sys/xt_translation.h"

// Before the kernel's headers: those then leave out what it defines.
#include <netinet/in.h>
//
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/xt_addrtype.h>
#include <linux/netfilter/xt_conntrack.h>
#include <linux/netfilter/xt_mark.h>
#include <linux/netfilter/xt_multiport.h>
#include <linux/netfilter/xt_state.h>
#include <linux/netfilter/xt_tcpudp.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

namespace sockhop::sys {
namespace {

using core::ByteRange;
using core::Order;
using core::PacketField;
using core::RuleProgram;
using core::RuleVerdict;

// linux/netfilter/nf_tables.h has nf_tables' numbers of the same states.
constexpr std::uint32_t kInvalid = 1;
constexpr std::uint32_t state_bit(int state) { return 1U << (state % IP_CT_IS_REPLY + 1); }

std::vector<std::uint8_t> host_bytes(std::uint32_t value) {
  std::vector<std::uint8_t> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::vector<std::uint8_t> port_bytes(std::uint16_t port) {
  return {static_cast<std::uint8_t>(port >> 8), static_cast<std::uint8_t>(port & 0xff)};
}

template <class T>
std::optional<T> info_as(std::span<const char> info) {
  if (info.size() < sizeof(T)) return std::nullopt;
  T value{};
  std::memcpy(&value, info.data(), sizeof value);
  return value;
}

struct Ports {
  bool source;
  bool negated;
  std::vector<ByteRange> ranges;
};

void append_ports(Ports ports, RuleProgram& rule) {
  rule.push_back(core::LoadHeader{true, static_cast<std::uint16_t>(ports.source ? 0 : 2), 0, 2});
  rule.push_back(core::InRanges{ports.negated, 0, std::move(ports.ranges)});
}

void append_tcp(std::span<const char> info, RuleProgram& rule) {
  const auto tcp = info_as<xt_tcp>(info);
  if (!tcp || tcp->option != 0) return rule.push_back(core::Unsure{});
  const bool all_sources = tcp->spts[0] == 0 && tcp->spts[1] == 0xffff;
  const bool all_destinations = tcp->dpts[0] == 0 && tcp->dpts[1] == 0xffff;
  if (!all_sources || (tcp->invflags & XT_TCP_INV_SRCPT) != 0) {
    append_ports({true,
                  (tcp->invflags & XT_TCP_INV_SRCPT) != 0,
                  {{port_bytes(tcp->spts[0]), port_bytes(tcp->spts[1])}}},
                 rule);
  }
  if (!all_destinations || (tcp->invflags & XT_TCP_INV_DSTPT) != 0) {
    append_ports({false,
                  (tcp->invflags & XT_TCP_INV_DSTPT) != 0,
                  {{port_bytes(tcp->dpts[0]), port_bytes(tcp->dpts[1])}}},
                 rule);
  }
  if (tcp->flg_mask == 0 && (tcp->invflags & XT_TCP_INV_FLAGS) == 0) return;
  rule.push_back(core::LoadHeader{true, 13, 0, 1});
  rule.push_back(core::Combine{0, 0, {tcp->flg_mask}, {0}});
  const bool negated = (tcp->invflags & XT_TCP_INV_FLAGS) != 0;
  rule.push_back(core::Compare{negated ? Order::unequal : Order::equal, 0, {tcp->flg_cmp}});
}

// "One of these states": the packet's state, which is one bit, is among the bits of the mask.
void append_states(std::uint32_t states, bool negated, RuleProgram& rule) {
  append_masked({PacketField::ct_state, states, 0, negated ? Order::equal : Order::unequal}, rule);
}

std::uint32_t states_of(std::uint32_t mask) {
  // The bits of INVALID, ESTABLISHED, RELATED and NEW are those of nf_tables.
  static_assert(XT_CONNTRACK_STATE_INVALID == kInvalid && state_bit(IP_CT_ESTABLISHED) == 2 &&
                state_bit(IP_CT_RELATED) == 4 && state_bit(IP_CT_NEW) == 8);
  return mask & 0xfU;
}

void append_conntrack(const XtExtension& match, RuleProgram& rule) {
  const auto info = info_as<xt_conntrack_mtinfo2>(match.info);
  constexpr std::uint32_t kKnown = XT_CONNTRACK_STATE | XT_CONNTRACK_STATE_ALIAS;
  if (match.revision < 2 || match.revision > 3 || !info) return rule.push_back(core::Unsure{});
  const bool negated = (info->invert_flags & XT_CONNTRACK_STATE) != 0;
  if ((info->match_flags & ~kKnown) != 0) rule.push_back(core::Unsure{});
  if ((info->match_flags & XT_CONNTRACK_STATE) == 0) return;
  // Whether the source was translated is not known; the destination was not.
  if ((info->state_mask & XT_CONNTRACK_STATE_SNAT) != 0) return rule.push_back(core::Unsure{});
  append_states(states_of(info->state_mask), negated, rule);
}

void append_state(std::span<const char> info, RuleProgram& rule) {
  const auto state = info_as<xt_state_info>(info);
  if (!state) return rule.push_back(core::Unsure{});
  append_states(states_of(state->statemask), false, rule);
}

void append_type(PacketField field, std::uint16_t types, bool negated, RuleProgram& rule) {
  if (types == 0) return;
  core::InRanges ranges{negated, 0, {}};
  for (std::uint32_t type = 0; type < 16; ++type) {
    if ((types >> type & 1U) == 0) continue;
    ranges.ranges.push_back({host_bytes(type), host_bytes(type)});
  }
  rule.push_back(core::LoadField{field, 0, 4});
  rule.push_back(std::move(ranges));
}

void append_addrtype(const XtExtension& match, RuleProgram& rule) {
  const auto info = info_as<xt_addrtype_info_v1>(match.info);
  constexpr std::uint32_t kLimits = XT_ADDRTYPE_LIMIT_IFACE_IN | XT_ADDRTYPE_LIMIT_IFACE_OUT;
  if (match.revision != 1 || !info || (info->flags & kLimits) != 0) {
    return rule.push_back(core::Unsure{});
  }
  append_type(PacketField::source_type, info->source,
              (info->flags & XT_ADDRTYPE_INVERT_SOURCE) != 0, rule);
  append_type(PacketField::destination_type, info->dest,
              (info->flags & XT_ADDRTYPE_INVERT_DEST) != 0, rule);
}

void append_mark(const XtExtension& match, RuleProgram& rule) {
  const auto info = info_as<xt_mark_mtinfo1>(match.info);
  if (match.revision != 1 || !info) return rule.push_back(core::Unsure{});
  append_masked({PacketField::mark, info->mask, info->mark,
                 info->invert != 0 ? Order::unequal : Order::equal},
                rule);
}

void append_multiport(const XtExtension& match, RuleProgram& rule) {
  const auto info = info_as<xt_multiport_v1>(match.info);
  if (match.revision != 1 || !info || info->count > XT_MULTI_PORTS ||
      info->flags == XT_MULTIPORT_EITHER) {
    return rule.push_back(core::Unsure{});
  }
  Ports ports{info->flags == XT_MULTIPORT_SOURCE, info->invert != 0, {}};
  for (std::size_t i = 0; i < info->count; ++i) {
    const auto first = info->ports[i];
    const bool range = info->pflags[i] != 0 && i + 1 < info->count;
    if (range) ++i;
    ports.ranges.push_back({port_bytes(first), port_bytes(info->ports[i])});
  }
  append_ports(std::move(ports), rule);
}

// (mark & ~mask) ^ mark
void append_set_mark(const XtExtension& target, RuleProgram& rule) {
  const auto info = info_as<xt_mark_tginfo2>(target.info);
  if (target.revision == 2 && info) {
    rule.push_back(core::LoadField{PacketField::mark, 0, 4});
    rule.push_back(core::Combine{0, 0, host_bytes(~info->mask), host_bytes(info->mark)});
  }
  // Of another revision: the register is empty, and the mark then unknown.
  rule.push_back(core::SetMark{0});
}

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// They note, count or colour; ERROR is the head of a legacy table's chain.
constexpr std::array<std::string_view, 8> kBystanders{"LOG",   "NFLOG", "CONNMARK",    "TRACE",
                                                      "ERROR", "AUDIT", "CONNSECMARK", "CHECKSUM"};
constexpr std::array<std::string_view, 2> kSourceChangers{"MASQUERADE", "SNAT"};

}  // namespace

void append_masked(const MaskedField& step, RuleProgram& rule) {
  rule.push_back(core::LoadField{step.field, 0, 4});
  rule.push_back(core::Combine{0, 0, host_bytes(step.mask), host_bytes(0)});
  rule.push_back(core::Compare{step.order, 0, host_bytes(step.value)});
}

void append_xt_match(const XtExtension& match, RuleProgram& rule) {
  if (match.name == "comment") return;
  if (match.name == "tcp") return append_tcp(match.info, rule);
  if (match.name == "conntrack") return append_conntrack(match, rule);
  if (match.name == "state") return append_state(match.info, rule);
  if (match.name == "addrtype") return append_addrtype(match, rule);
  if (match.name == "mark") return append_mark(match, rule);
  if (match.name == "multiport") return append_multiport(match, rule);
  rule.push_back(core::Unsure{});
}

void append_xt_target(const XtExtension& target, RuleProgram& rule) {
  if (contains(kBystanders, target.name)) return;
  if (target.name == "MARK") return append_set_mark(target, rule);
  if (contains(kSourceChangers, target.name)) return rule.push_back(core::SourceNat{});
  rule.push_back(RuleVerdict{RuleVerdict::Kind::harm, -1});
}

}  // namespace sockhop::sys
