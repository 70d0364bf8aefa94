// Dumps of nf_tables, which root of a container fills as it likes, and what is made of them.
#include <linux/netfilter/nf_tables.h>

#include "core/filtering.h"
#include "messages.h"
#include "require.h"
#include "sys/nft_messages.h"

using namespace sockhop;

namespace {

core::Crossing crossing(bool made_here) {
  core::Crossing one;
  one.source = core::Address::v4(172, 17, 0, 2);
  one.destination = core::Address::v4(203, 0, 113, 1);
  one.port = 443;
  one.made_here = made_here;
  one.out = {2, "eth0"};
  return one;
}

void take(sys::NftMessages& messages, const nlmsghdr& message) {
  switch (message.nlmsg_type & 0xff) {
    case NFT_MSG_NEWTABLE:
      return messages.take_table(message);
    case NFT_MSG_NEWCHAIN:
      return messages.take_chain(message);
    case NFT_MSG_NEWRULE:
      return messages.take_rule(message);
    case NFT_MSG_NEWSET:
      return messages.take_set(message);
    default:
      return messages.take_elements(message);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  sys::NftMessages messages;
  fuzz::for_each_message(data, size, [&](const nlmsghdr& message) { take(messages, message); });
  core::NamespaceRules rules;
  rules.nft = std::move(messages).finish();
  const bool everything = core::passes_everything(rules);
  for (const bool made_here : {true, false}) {
    const bool passes = !core::objection_to(rules, crossing(made_here));
    fuzz::require(passes || !everything, "what lets everything pass lets this pass");
  }
  return 0;
}
