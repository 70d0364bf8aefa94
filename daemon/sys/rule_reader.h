// Reads what one network namespace filters, rewrites, shapes or selects by rule: nftables (which
// includes iptables-nft), legacy iptables, ip rules, xfrm policies, queueing disciplines.
//
// Takes CAP_NET_ADMIN over the namespace, in the opener and in the thread that reads.
#pragma once

#include <optional>

#include "base/result.h"
#include "base/unique_fd.h"
#include "core/filtering.h"
#include "sys/legacy_tables.h"
#include "sys/netlink.h"

namespace sockhop::sys {

class RuleReader {
 public:
  /// Opens in the calling thread's network namespace; usable from any thread afterwards. The
  /// calling thread should stay in the namespace: where the kernel gets legacy iptables only later,
  /// the tables are found through the thread's /proc entry.
  static Result<RuleReader> open();

  struct Reread {
    core::NamespaceRules rules;
    bool changed = false;
  };
  /// `known` is what was read before: nftables are read again when their generation is another,
  /// the rest always. Legacy tables and xfrm policies send no event that NetlinkWatch hears: call
  /// this once a second while answers are used.
  Result<Reread> read(core::NamespaceRules known);

 private:
  struct Sockets {
    NetlinkSocket netfilter;
    NetlinkSocket route;
    std::optional<NetlinkSocket> xfrm;  // absent where the kernel has no xfrm
  };
  RuleReader(Sockets sockets, LegacyTables legacy, UniqueFd local_ports)
      : sockets_(std::move(sockets)),
        legacy_(std::move(legacy)),
        local_ports_(std::move(local_ports)) {}
  Status read_nft(core::NamespaceRules& rules);

  Sockets sockets_;
  LegacyTables legacy_;
  UniqueFd local_ports_;  // /proc/sys/net/ipv4/ip_local_port_range of the namespace
};

}  // namespace sockhop::sys
