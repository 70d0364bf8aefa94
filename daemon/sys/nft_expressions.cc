#include "sys/nft_expressions.h"

// Before the kernel's headers: those then leave out what it defines.
#include <netinet/in.h>
//
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nf_tables_compat.h>

#include <algorithm>
#include <array>

#include "sys/netlink.h"
#include "sys/xt_translation.h"

namespace sockhop::sys {
namespace {

using core::Order;
using core::PacketField;
using core::RuleProgram;
using core::RuleVerdict;
// Longer than the longest list of attributes that is looked into.
using Attributes = NetlinkAttributes<32>;
using Number = std::optional<std::uint32_t>;

void harm(RuleProgram& rule) { rule.push_back(RuleVerdict{RuleVerdict::Kind::harm, -1}); }
void unsure(RuleProgram& rule) { rule.push_back(core::Unsure{}); }

// Registers have two numberings: four of 16 bytes, or sixteen of 4.
std::optional<std::uint8_t> register_of(const Attributes& data, int attribute) {
  const Number number = nft_number(data.find(static_cast<std::size_t>(attribute), 4));
  if (!number) return std::nullopt;
  if (*number >= NFT_REG_1 && *number <= NFT_REG_4) {
    return static_cast<std::uint8_t>((*number - NFT_REG_1) * NFT_REG_SIZE);
  }
  if (*number >= NFT_REG32_00 && *number <= NFT_REG32_15) {
    return static_cast<std::uint8_t>((*number - NFT_REG32_00) * NFT_REG32_SIZE);
  }
  return std::nullopt;
}

// A load of something that is not known, into a register.
void load_unknown(const Attributes& data, int attribute, RuleProgram& rule) {
  const auto reg = register_of(data, attribute);
  if (!reg) return harm(rule);
  rule.push_back(core::LoadField{PacketField::unknown, *reg, NFT_REG_SIZE});
}

struct Field {
  PacketField field;
  std::uint8_t length;
};

Field meta_field(std::uint32_t key) {
  switch (key) {
    case NFT_META_PROTOCOL:
      return {PacketField::protocol, 2};
    case NFT_META_MARK:
      return {PacketField::mark, 4};
    case NFT_META_IIF:
      return {PacketField::in_index, 4};
    case NFT_META_OIF:
      return {PacketField::out_index, 4};
    case NFT_META_IIFNAME:
      return {PacketField::in_name, 16};
    case NFT_META_OIFNAME:
      return {PacketField::out_name, 16};
    case NFT_META_NFPROTO:
      return {PacketField::net_family, 1};
    case NFT_META_L4PROTO:
      return {PacketField::l4_protocol, 1};
    default:
      return {PacketField::unknown, NFT_REG_SIZE};
  }
}

Field ct_field(std::uint32_t key) {
  switch (key) {
    case NFT_CT_STATE:
      return {PacketField::ct_state, 4};
    case NFT_CT_STATUS:
      return {PacketField::ct_status, 4};
    case NFT_CT_DIRECTION:
      return {PacketField::ct_direction, 1};
    default:
      return {PacketField::unknown, NFT_REG_SIZE};
  }
}

void load_field(Field field, std::optional<std::uint8_t> reg, RuleProgram& rule) {
  if (!reg) return harm(rule);
  rule.push_back(core::LoadField{field.field, *reg, field.length});
}

void append_meta(const Attributes& data, RuleProgram& rule) {
  const Number key = nft_number(data.find(NFTA_META_KEY, 4));
  if (!key) return harm(rule);
  if (data.find(NFTA_META_SREG) == nullptr) {
    return load_field(meta_field(*key), register_of(data, NFTA_META_DREG), rule);
  }
  const auto reg = register_of(data, NFTA_META_SREG);
  if (*key == NFT_META_MARK && reg) return rule.push_back(core::SetMark{*reg});
  // What queues and traces look at does not decide where a packet goes.
  if (*key != NFT_META_PRIORITY && *key != NFT_META_NFTRACE) harm(rule);
}

void append_ct(const Attributes& data, RuleProgram& rule) {
  const Number key = nft_number(data.find(NFTA_CT_KEY, 4));
  if (!key) return harm(rule);
  if (data.find(NFTA_CT_SREG) == nullptr) {
    return load_field(ct_field(*key), register_of(data, NFTA_CT_DREG), rule);
  }
  if (*key != NFT_CT_MARK && *key != NFT_CT_LABELS && *key != NFT_CT_EVENTMASK) harm(rule);
}

void append_payload(const Attributes& data, RuleProgram& rule) {
  const Number base = nft_number(data.find(NFTA_PAYLOAD_BASE, 4));
  const Number offset = nft_number(data.find(NFTA_PAYLOAD_OFFSET, 4));
  const Number length = nft_number(data.find(NFTA_PAYLOAD_LEN, 4));
  const auto reg = register_of(data, NFTA_PAYLOAD_DREG);
  // Without a register to load into it writes to the packet.
  if (!base || !offset || !length || !reg || *length > core::KnownBytes::kSize) return harm(rule);
  const bool network = *base == NFT_PAYLOAD_NETWORK_HEADER;
  if ((!network && *base != NFT_PAYLOAD_TRANSPORT_HEADER) || *offset > 0xffff) {
    return load_unknown(data, NFTA_PAYLOAD_DREG, rule);
  }
  rule.push_back(core::LoadHeader{!network, static_cast<std::uint16_t>(*offset), *reg,
                                  static_cast<std::uint8_t>(*length)});
}

void append_cmp(const Attributes& data, RuleProgram& rule) {
  static constexpr std::array kOrders{Order::equal,      Order::unequal, Order::less,
                                      Order::less_equal, Order::greater, Order::greater_equal};
  const Number op = nft_number(data.find(NFTA_CMP_OP, 4));
  const auto reg = register_of(data, NFTA_CMP_SREG);
  auto bytes = read_value(data.find(NFTA_CMP_DATA));
  if (!op || *op >= kOrders.size() || !reg || bytes.empty()) return unsure(rule);
  rule.push_back(core::Compare{kOrders[*op], *reg, std::move(bytes)});
}

void append_range(const Attributes& data, RuleProgram& rule) {
  const auto reg = register_of(data, NFTA_RANGE_SREG);
  const Number op = nft_number(data.find(NFTA_RANGE_OP, 4));
  auto from = read_value(data.find(NFTA_RANGE_FROM_DATA));
  auto to = read_value(data.find(NFTA_RANGE_TO_DATA));
  if (!reg || !op || from.empty() || from.size() != to.size()) return unsure(rule);
  rule.push_back(core::InRanges{*op == NFT_RANGE_NEQ, *reg, {{std::move(from), std::move(to)}}});
}

void append_bitwise(const Attributes& data, RuleProgram& rule) {
  const auto from = register_of(data, NFTA_BITWISE_SREG);
  const auto to = register_of(data, NFTA_BITWISE_DREG);
  auto mask = read_value(data.find(NFTA_BITWISE_MASK));
  auto flip = read_value(data.find(NFTA_BITWISE_XOR));
  const bool masks = nft_number(data.find(NFTA_BITWISE_OP, 4)).value_or(0) == 0;
  if (!from || !masks || mask.empty() || flip.size() != mask.size()) {
    return load_unknown(data, NFTA_BITWISE_DREG, rule);
  }
  if (!to) return harm(rule);
  rule.push_back(core::Combine{*to, *from, std::move(mask), std::move(flip)});
}

void append_fib(const Attributes& data, RuleProgram& rule) {
  const Number result = nft_number(data.find(NFTA_FIB_RESULT, 4));
  const Number flags = nft_number(data.find(NFTA_FIB_FLAGS, 4));
  const auto reg = register_of(data, NFTA_FIB_DREG);
  if (!result || !flags || !reg) return harm(rule);
  auto field = PacketField::unknown;
  if (*result == NFT_FIB_RESULT_ADDRTYPE) {
    if (*flags == NFTA_FIB_F_DADDR) field = PacketField::destination_type;
    if (*flags == NFTA_FIB_F_SADDR) field = PacketField::source_type;
  }
  rule.push_back(core::LoadField{field, *reg, 4});
}

void append_immediate(const Attributes& data, const NftTable& table, RuleProgram& rule) {
  const auto* nest = data.find(NFTA_IMMEDIATE_DATA);
  if (nest == nullptr) return harm(rule);
  if (const auto* verdict = Attributes::of_nest(nest).find(NFTA_DATA_VERDICT)) {
    return rule.push_back(read_verdict(*verdict, table));
  }
  const auto reg = register_of(data, NFTA_IMMEDIATE_DREG);
  if (!reg) return harm(rule);
  rule.push_back(core::LoadValue{*reg, read_value(nest)});
}

void append_lookup(const Attributes& data, const NftTable& table, RuleProgram& rule) {
  const auto reg = register_of(data, NFTA_LOOKUP_SREG);
  const auto name = nft_text(data.find(NFTA_LOOKUP_SET));
  if (!reg || name.empty()) return harm(rule);
  core::Lookup lookup{table.builder.set(table.key_of(name)), *reg, false};
  const auto flags = nft_number(data.find(NFTA_LOOKUP_FLAGS, 4)).value_or(0);
  lookup.negated = (flags & NFT_LOOKUP_F_INV) != 0;
  if (const Number to = nft_number(data.find(NFTA_LOOKUP_DREG, 4))) {
    const auto value = register_of(data, NFTA_LOOKUP_DREG);
    lookup.verdict = *to == NFT_REG_VERDICT;
    if (!lookup.verdict && !value) return harm(rule);
    if (value) lookup.to = *value;
  }
  rule.push_back(lookup);
}

void append_objref(const Attributes& data, RuleProgram& rule) {
  switch (nft_number(data.find(NFTA_OBJREF_IMM_TYPE, 4)).value_or(NFT_OBJECT_SYNPROXY)) {
    case NFT_OBJECT_COUNTER:
    case NFT_OBJECT_CT_HELPER:
    case NFT_OBJECT_CT_TIMEOUT:
    case NFT_OBJECT_SECMARK:
      return;
    case NFT_OBJECT_QUOTA:
    case NFT_OBJECT_LIMIT:
    case NFT_OBJECT_CONNLIMIT:
      return unsure(rule);
    default:
      return harm(rule);
  }
}

void append_nat(const Attributes& data, RuleProgram& rule) {
  if (nft_number(data.find(NFTA_NAT_TYPE, 4)) != std::uint32_t{NFT_NAT_SNAT}) return harm(rule);
  rule.push_back(core::SourceNat{});
}

XtExtension xt_of(const Attributes& data, std::array<std::size_t, 3> attributes) {
  XtExtension extension;
  extension.name = nft_text(data.find(attributes[0]));
  extension.revision = nft_number(data.find(attributes[1], 4)).value_or(0xff);
  if (const auto* info = data.find(attributes[2])) {
    extension.info = {static_cast<const char*>(mnl_attr_get_payload(info)),
                      mnl_attr_get_payload_len(info)};
  }
  return extension;
}

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// They count, note, or hand a connection's later packets to a faster way.
constexpr std::array<std::string_view, 4> kBystanders{"counter", "log", "last", "flow_offload"};
// They go on or do not, by something that is not known.
constexpr std::array<std::string_view, 4> kDoubtful{"limit", "quota", "connlimit", "dynset"};

// They load something that is not known. Each has its destination register as another attribute.
struct Loader {
  std::string_view name;
  int reg;
};
constexpr std::array kLoaders{Loader{"rt", NFTA_RT_DREG},
                              Loader{"hash", NFTA_HASH_DREG},
                              Loader{"numgen", NFTA_NG_DREG},
                              Loader{"socket", NFTA_SOCKET_DREG},
                              Loader{"osf", NFTA_OSF_DREG},
                              Loader{"xfrm", NFTA_XFRM_DREG},
                              Loader{"byteorder", NFTA_BYTEORDER_DREG}};

bool append_plain(std::string_view name, const Attributes& data, RuleProgram& rule) {
  using Append = void (*)(const Attributes&, RuleProgram&);
  struct Known {
    std::string_view name;
    Append append;
  };
  static constexpr std::array kKnown{
      Known{"meta", append_meta}, Known{"ct", append_ct},         Known{"payload", append_payload},
      Known{"cmp", append_cmp},   Known{"range", append_range},   Known{"bitwise", append_bitwise},
      Known{"fib", append_fib},   Known{"objref", append_objref}, Known{"nat", append_nat}};
  const auto* known = std::find_if(kKnown.begin(), kKnown.end(),
                                   [&](const Known& one) { return one.name == name; });
  if (known != kKnown.end()) {
    known->append(data, rule);
    return true;
  }
  const auto* loader = std::find_if(kLoaders.begin(), kLoaders.end(),
                                    [&](const Loader& one) { return one.name == name; });
  if (loader == kLoaders.end()) return false;
  load_unknown(data, loader->reg, rule);
  return true;
}

void append_expression(const nlattr* element, const NftTable& table, RuleProgram& rule) {
  const auto parts = Attributes::of_nest(element);
  const auto name = nft_text(parts.find(NFTA_EXPR_NAME));
  if (contains(kBystanders, name)) return;
  if (contains(kDoubtful, name)) return unsure(rule);
  if (name == "masq") return rule.push_back(core::SourceNat{});
  const auto* nest = parts.find(NFTA_EXPR_DATA);
  if (nest == nullptr) return harm(rule);
  const auto data = Attributes::of_nest(nest);
  if (append_plain(name, data, rule)) return;
  if (name == "immediate") return append_immediate(data, table, rule);
  if (name == "lookup") return append_lookup(data, table, rule);
  if (name == "match") {
    return append_xt_match(xt_of(data, {NFTA_MATCH_NAME, NFTA_MATCH_REV, NFTA_MATCH_INFO}), rule);
  }
  if (name == "target") {
    return append_xt_target(xt_of(data, {NFTA_TARGET_NAME, NFTA_TARGET_REV, NFTA_TARGET_INFO}),
                            rule);
  }
  if (name == "exthdr" && data.find(NFTA_EXTHDR_DREG) != nullptr) {
    return load_unknown(data, NFTA_EXTHDR_DREG, rule);
  }
  harm(rule);
}

}  // namespace

std::string_view nft_text(const nlattr* attribute) {
  if (attribute == nullptr) return {};
  const std::string_view all(static_cast<const char*>(mnl_attr_get_payload(attribute)),
                             mnl_attr_get_payload_len(attribute));
  return all.substr(0, all.find('\0'));
}

std::optional<std::uint32_t> nft_number(const nlattr* attribute) {
  if (attribute == nullptr || mnl_attr_get_payload_len(attribute) < sizeof(std::uint32_t)) {
    return std::nullopt;
  }
  return ntohl(mnl_attr_get_u32(attribute));
}

std::vector<std::uint8_t> read_value(const nlattr* data) {
  if (data == nullptr) return {};
  const auto* value = Attributes::of_nest(data).find(NFTA_DATA_VALUE);
  if (value == nullptr) return {};
  const auto* bytes = static_cast<const std::uint8_t*>(mnl_attr_get_payload(value));
  return {bytes, bytes + mnl_attr_get_payload_len(value)};
}

RuleVerdict read_verdict(const nlattr& verdict, const NftTable& table) {
  using Kind = RuleVerdict::Kind;
  const auto parts = Attributes::of_nest(&verdict);
  // What cannot be read counts as NF_DROP.
  const auto code =
      static_cast<std::int32_t>(nft_number(parts.find(NFTA_VERDICT_CODE)).value_or(0));
  const auto chain = nft_text(parts.find(NFTA_VERDICT_CHAIN));
  switch (code) {
    case NF_ACCEPT:
      return {Kind::accept, -1};
    case NFT_CONTINUE:
      return {Kind::go_on, -1};
    case NFT_RETURN:
      return {Kind::back, -1};
    case NFT_JUMP:
      return {Kind::jump, table.builder.chain(table.key_of(chain))};
    case NFT_GOTO:
      return {Kind::go_to, table.builder.chain(table.key_of(chain))};
    default:
      return {Kind::harm, -1};
  }
}

RuleProgram read_expressions(const nlattr& expressions, const NftTable& table) {
  RuleProgram rule;
  const auto* element = static_cast<const nlattr*>(mnl_attr_get_payload(&expressions));
  const char* end = reinterpret_cast<const char*>(element) + mnl_attr_get_payload_len(&expressions);
  for (; mnl_attr_ok(element, static_cast<int>(end - reinterpret_cast<const char*>(element)));
       element = mnl_attr_next(element)) {
    append_expression(element, table, rule);
  }
  return rule;
}

}  // namespace sockhop::sys
