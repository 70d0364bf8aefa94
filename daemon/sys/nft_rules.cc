#include "sys/nft_rules.h"

// Before the kernel's headers: those then leave out what it defines.
#include <netinet/in.h>
//
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include "sys/nft_expressions.h"
#include "sys/nft_messages.h"

namespace sockhop::sys {
namespace {

using Take = void (NftMessages::*)(const nlmsghdr&);

NetlinkRequest request_for(int what, std::uint8_t family, std::uint16_t flags) {
  NetlinkRequest request(static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | what), flags);
  request.add_header<nfgenmsg>()->nfgen_family = family;
  return request;
}

Status dump(NetlinkSocket& socket, int what, NftMessages& messages, Take take) {
  auto request = request_for(what, NFPROTO_UNSPEC, NLM_F_DUMP);
  return socket.ask(request, [&](const nlmsghdr& message) { (messages.*take)(message); });
}

Status dump_elements(NetlinkSocket& socket, const NftMessages::SetName& name,
                     NftMessages& messages) {
  auto request = request_for(NFT_MSG_GETSETELEM, name.family, NLM_F_DUMP);
  const bool fits = mnl_attr_put_strz_check(request.header, request.bytes.size(),
                                            NFTA_SET_ELEM_LIST_TABLE, name.table.c_str()) &&
                    mnl_attr_put_strz_check(request.header, request.bytes.size(),
                                            NFTA_SET_ELEM_LIST_SET, name.set.c_str());
  if (!fits) {
    return Error{ENAMETOOLONG, "nftables set", {}};
  }
  return socket.ask(request, [&](const nlmsghdr& message) { messages.take_elements(message); });
}

bool means_no_nftables(int code) { return code == EOPNOTSUPP || code == EINVAL || code == ENOENT; }

}  // namespace

Result<std::uint32_t> nft_generation(NetlinkSocket& socket) {
  auto request = request_for(NFT_MSG_GETGEN, NFPROTO_UNSPEC, 0);
  std::uint32_t generation = 0;
  const auto asked = socket.ask(request, [&](const nlmsghdr& message) {
    const auto parts = NetlinkAttributes<8>::of_message(message, sizeof(nfgenmsg));
    generation = nft_number(parts.find(NFTA_GEN_ID)).value_or(0);
  });
  if (!asked && !means_no_nftables(asked.error().code)) return asked.error();
  return generation;
}

Result<core::RuleSet> read_nft_rules(NetlinkSocket& socket) {
  NftMessages messages;
  const auto tables = dump(socket, NFT_MSG_GETTABLE, messages, &NftMessages::take_table);
  if (!tables && !means_no_nftables(tables.error().code)) return tables.error();
  if (!messages.has_tables()) return core::RuleSet{};
  struct Step {
    int what;
    Take take;
  };
  for (const Step& step : {Step{NFT_MSG_GETCHAIN, &NftMessages::take_chain},
                           Step{NFT_MSG_GETRULE, &NftMessages::take_rule},
                           Step{NFT_MSG_GETSET, &NftMessages::take_set}}) {
    if (auto asked = dump(socket, step.what, messages, step.take); !asked) return asked.error();
  }
  for (const auto& name : messages.sets()) {
    if (auto asked = dump_elements(socket, name, messages); !asked) return asked.error();
  }
  if (messages.too_many()) return Error{E2BIG, "nftables rules", {}};
  return std::move(messages).finish();
}

}  // namespace sockhop::sys
