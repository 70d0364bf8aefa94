#include "sys/nft_rules.h"

#include <arpa/inet.h>
//
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nf_tables_compat.h>
#include <linux/netfilter/nfnetlink.h>

#include <optional>
#include <string_view>

namespace sockhop::sys {
namespace {

using core::FilteringSum;
using core::RuleExpression;
// Longer than the longest list of attributes that is looked into.
using Attributes = NetlinkAttributes<32>;

std::string_view text_of(const nlattr* attribute) {
  if (attribute == nullptr) return {};
  const std::string_view all(static_cast<const char*>(mnl_attr_get_payload(attribute)),
                             mnl_attr_get_payload_len(attribute));
  return all.substr(0, all.find('\0'));
}

std::optional<std::uint32_t> number_of(const nlattr* attribute) {
  if (attribute == nullptr) return std::nullopt;
  return ntohl(mnl_attr_get_u32(attribute));
}

std::optional<std::int32_t> verdict_of(const Attributes& immediate) {
  const auto* data = immediate.find(NFTA_IMMEDIATE_DATA);
  if (data == nullptr) return std::nullopt;
  const auto* verdict = Attributes::of_nest(data).find(NFTA_DATA_VERDICT);
  if (verdict == nullptr) return std::nullopt;
  const auto code = number_of(Attributes::of_nest(verdict).find(NFTA_VERDICT_CODE, 4));
  // A verdict that cannot be read is given as one that is not harmless: NF_DROP.
  return static_cast<std::int32_t>(code.value_or(0));
}

bool sets_more_than_mark(const Attributes& data, int source, int key, std::uint32_t mark) {
  return data.find(source) != nullptr && number_of(data.find(key, 4)) != mark;
}

bool writes(std::string_view name, const Attributes& data) {
  if (name == "payload") return data.find(NFTA_PAYLOAD_SREG) != nullptr;
  if (name == "exthdr") return data.find(NFTA_EXTHDR_SREG) != nullptr;
  if (name == "meta")
    return sets_more_than_mark(data, NFTA_META_SREG, NFTA_META_KEY, NFT_META_MARK);
  if (name == "ct") return sets_more_than_mark(data, NFTA_CT_SREG, NFTA_CT_KEY, NFT_CT_MARK);
  if (name == "lookup") {
    return number_of(data.find(NFTA_LOOKUP_DREG, 4)) == std::uint32_t{NFT_REG_VERDICT};
  }
  return false;
}

RuleExpression read_expression(const nlattr* element) {
  const auto parts = Attributes::of_nest(element);
  RuleExpression expression;
  expression.name = text_of(parts.find(NFTA_EXPR_NAME));
  const auto* nest = parts.find(NFTA_EXPR_DATA);
  if (nest == nullptr) return expression;
  const auto data = Attributes::of_nest(nest);
  expression.writes = writes(expression.name, data);
  if (expression.name == "immediate") expression.verdict = verdict_of(data);
  if (expression.name == "nat") expression.nat_type = number_of(data.find(NFTA_NAT_TYPE, 4));
  if (expression.name == "target") expression.target = text_of(data.find(NFTA_TARGET_NAME));
  return expression;
}

void read_rule(const nlmsghdr& message, FilteringSum& sum) {
  const auto rule = Attributes::of_message(message, sizeof(nfgenmsg));
  const auto* list = rule.find(NFTA_RULE_EXPRESSIONS);
  if (list == nullptr) return;
  const auto* element = static_cast<const nlattr*>(mnl_attr_get_payload(list));
  const char* end = reinterpret_cast<const char*>(element) + mnl_attr_get_payload_len(list);
  for (; mnl_attr_ok(element, static_cast<int>(end - reinterpret_cast<const char*>(element)));
       element = mnl_attr_next(element)) {
    sum.add_expression(read_expression(element));
  }
}

void read_chain(const nlmsghdr& message, FilteringSum& sum) {
  const auto chain = Attributes::of_message(message, sizeof(nfgenmsg));
  if (const auto policy = number_of(chain.find(NFTA_CHAIN_POLICY, 4))) sum.add_policy(*policy);
}

Status dump(NetlinkSocket& socket, int what, const NetlinkSocket::OnMessage& on_message) {
  NetlinkRequest request(static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | what), NLM_F_DUMP);
  request.add_header<nfgenmsg>()->nfgen_family = NFPROTO_UNSPEC;
  return socket.ask(request, on_message);
}

bool means_no_nftables(int code) { return code == EOPNOTSUPP || code == EINVAL || code == ENOENT; }

}  // namespace

Result<FilteringSum> read_nft_rules(NetlinkSocket& socket) {
  FilteringSum sum;
  bool any = false;
  const auto tables = dump(socket, NFT_MSG_GETTABLE, [&](const nlmsghdr&) { any = true; });
  if (!tables && means_no_nftables(tables.error().code)) return sum;
  if (!tables) return tables.error();
  if (!any) return sum;
  const auto chains =
      dump(socket, NFT_MSG_GETCHAIN, [&](const nlmsghdr& message) { read_chain(message, sum); });
  if (!chains) return chains.error();
  const auto rules =
      dump(socket, NFT_MSG_GETRULE, [&](const nlmsghdr& message) { read_rule(message, sum); });
  if (!rules) return rules.error();
  return sum;
}

}  // namespace sockhop::sys
