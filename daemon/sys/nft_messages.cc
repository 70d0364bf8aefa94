#include "sys/nft_messages.h"

// Before the kernel's headers: those then leave out what it defines.
#include <netinet/in.h>
//
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include <functional>
#include <string_view>

#include "sys/netlink.h"
#include "sys/nft_expressions.h"

namespace sockhop::sys {
namespace {

using core::Hook;
using core::RuleFamily;
// Longer than the longest list of attributes that is looked into.
using Attributes = NetlinkAttributes<32>;

std::uint8_t family_of(const nlmsghdr& message) {
  if (mnl_nlmsg_get_payload_len(&message) < sizeof(nfgenmsg)) return NFPROTO_UNSPEC;
  return static_cast<const nfgenmsg*>(mnl_nlmsg_get_payload(&message))->nfgen_family;
}

std::string name_of(std::uint8_t family) {
  switch (family) {
    case NFPROTO_INET:
      return "inet";
    case NFPROTO_IPV4:
      return "ip";
    case NFPROTO_IPV6:
      return "ip6";
    case NFPROTO_ARP:
      return "arp";
    case NFPROTO_NETDEV:
      return "netdev";
    case NFPROTO_BRIDGE:
      return "bridge";
    default:
      return "family " + std::to_string(family);
  }
}

RuleFamily kind_of(std::uint8_t family) {
  switch (family) {
    case NFPROTO_INET:
      return RuleFamily::both;
    case NFPROTO_IPV4:
      return RuleFamily::v4;
    case NFPROTO_IPV6:
      return RuleFamily::v6;
    default:
      return RuleFamily::link;
  }
}

Hook hook_of(RuleFamily family, std::uint32_t number) {
  if (family == RuleFamily::link) return Hook::link;
  switch (number) {
    case NF_INET_PRE_ROUTING:
      return Hook::prerouting;
    case NF_INET_LOCAL_IN:
      return Hook::input;
    case NF_INET_FORWARD:
      return Hook::forward;
    case NF_INET_LOCAL_OUT:
      return Hook::output;
    case NF_INET_POST_ROUTING:
      return Hook::postrouting;
    default:  // ingress of a device
      return Hook::link;
  }
}

std::string table_key(const nlmsghdr& message, const nlattr* table) {
  return name_of(family_of(message)) + " " + std::string(nft_text(table));
}

void for_each(const nlattr& list, const std::function<void(const nlattr*)>& visit) {
  const auto* element = static_cast<const nlattr*>(mnl_attr_get_payload(&list));
  const char* end = reinterpret_cast<const char*>(element) + mnl_attr_get_payload_len(&list);
  for (; mnl_attr_ok(element, static_cast<int>(end - reinterpret_cast<const char*>(element)));
       element = mnl_attr_next(element)) {
    visit(element);
  }
}

std::vector<std::uint8_t> field_lengths(const Attributes& set) {
  std::vector<std::uint8_t> lengths;
  const auto* description = set.find(NFTA_SET_DESC);
  if (description == nullptr) return lengths;
  const auto* fields = Attributes::of_nest(description).find(NFTA_SET_DESC_CONCAT);
  if (fields == nullptr) return lengths;
  for_each(*fields, [&](const nlattr* field) {
    const auto length = nft_number(Attributes::of_nest(field).find(NFTA_SET_FIELD_LEN));
    lengths.push_back(static_cast<std::uint8_t>(length.value_or(0)));
  });
  return lengths;
}

core::RuleSetElement read_element(const Attributes& parts, const NftTable& table) {
  core::RuleSetElement element;
  element.key = read_value(parts.find(NFTA_SET_ELEM_KEY));
  element.key_end = read_value(parts.find(NFTA_SET_ELEM_KEY_END));
  const auto flags = nft_number(parts.find(NFTA_SET_ELEM_FLAGS)).value_or(0);
  element.interval_end = (flags & NFT_SET_ELEM_INTERVAL_END) != 0;
  element.unsure =
      parts.find(NFTA_SET_ELEM_EXPR) != nullptr || parts.find(NFTA_SET_ELEM_EXPRESSIONS) != nullptr;
  const auto* data = parts.find(NFTA_SET_ELEM_DATA);
  if (data == nullptr) return element;
  element.value = read_value(data);
  if (const auto* verdict = Attributes::of_nest(data).find(NFTA_DATA_VERDICT)) {
    element.verdict = read_verdict(*verdict, table);
  }
  return element;
}

}  // namespace

void NftMessages::take_table(const nlmsghdr& message) {
  has_tables_ = true;
  const auto table = Attributes::of_message(message, sizeof(nfgenmsg));
  const auto flags = nft_number(table.find(NFTA_TABLE_FLAGS)).value_or(0);
  if ((flags & NFT_TABLE_F_DORMANT) == 0) return;
  dormant_.insert(table_key(message, table.find(NFTA_TABLE_NAME)));
}

void NftMessages::take_chain(const nlmsghdr& message) {
  const auto parts = Attributes::of_message(message, sizeof(nfgenmsg));
  const NftTable table{builder_, table_key(message, parts.find(NFTA_CHAIN_TABLE))};
  auto& chain = builder_.define(table.key_of(nft_text(parts.find(NFTA_CHAIN_NAME))));
  const auto* nest = parts.find(NFTA_CHAIN_HOOK);
  if (nest == nullptr || dormant_.contains(table.key)) return;
  const auto hook = Attributes::of_nest(nest);
  chain.base = true;
  chain.family = kind_of(family_of(message));
  chain.hook = hook_of(chain.family, nft_number(hook.find(NFTA_HOOK_HOOKNUM)).value_or(0));
  chain.priority = static_cast<std::int32_t>(nft_number(hook.find(NFTA_HOOK_PRIORITY)).value_or(0));
  chain.nat = nft_text(parts.find(NFTA_CHAIN_TYPE)) == "nat";
  chain.drops = nft_number(parts.find(NFTA_CHAIN_POLICY)).value_or(NF_ACCEPT) != NF_ACCEPT;
}

void NftMessages::take_rule(const nlmsghdr& message) {
  const auto parts = Attributes::of_message(message, sizeof(nfgenmsg));
  const auto* expressions = parts.find(NFTA_RULE_EXPRESSIONS);
  if (expressions == nullptr) return;
  const NftTable table{builder_, table_key(message, parts.find(NFTA_RULE_TABLE))};
  builder_.add_rule(table.key_of(nft_text(parts.find(NFTA_RULE_CHAIN))),
                    read_expressions(*expressions, table));
}

void NftMessages::take_set(const nlmsghdr& message) {
  const auto parts = Attributes::of_message(message, sizeof(nfgenmsg));
  const NftTable table{builder_, table_key(message, parts.find(NFTA_SET_TABLE))};
  const auto name = nft_text(parts.find(NFTA_SET_NAME));
  const auto flags = nft_number(parts.find(NFTA_SET_FLAGS)).value_or(0);
  auto& set = builder_.set_at(builder_.set(table.key_of(name)));
  set.intervals = (flags & NFT_SET_INTERVAL) != 0;
  if (set.intervals) set.field_lengths = field_lengths(parts);
  // What packets or time change sends no event; objects are not values.
  if ((flags & (NFT_SET_EVAL | NFT_SET_TIMEOUT | NFT_SET_OBJECT)) != 0) return;
  sets_.push_back(
      {family_of(message), std::string(nft_text(parts.find(NFTA_SET_TABLE))), std::string(name)});
}

void NftMessages::take_elements(const nlmsghdr& message) {
  const auto parts = Attributes::of_message(message, sizeof(nfgenmsg));
  const NftTable table{builder_, table_key(message, parts.find(NFTA_SET_ELEM_LIST_TABLE))};
  const auto number = builder_.set(table.key_of(nft_text(parts.find(NFTA_SET_ELEM_LIST_SET))));
  const auto* list = parts.find(NFTA_SET_ELEM_LIST_ELEMENTS);
  if (list == nullptr) return;
  for_each(*list, [&](const nlattr* item) {
    if (++elements_ > kMaxElements) return;
    const auto one = Attributes::of_nest(item);
    const auto flags = nft_number(one.find(NFTA_SET_ELEM_FLAGS)).value_or(0);
    auto element = read_element(one, table);
    auto& set = builder_.set_at(number);
    const bool any = (flags & NFT_SET_ELEM_CATCHALL) != 0;
    (any ? set.otherwise : set.elements).push_back(std::move(element));
  });
}

core::RuleSet NftMessages::finish() && {
  for (const auto& name : sets_) {
    const auto key = name_of(name.family) + " " + name.table + " " + name.set;
    builder_.set_at(builder_.set(key)).open = false;
  }
  return std::move(builder_).finish();
}

}  // namespace sockhop::sys
