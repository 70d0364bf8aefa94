#include "sys/rule_reader.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/network_namespace.h"

namespace sockhop {
namespace {

using core::Filtering;
using tests::NetworkNamespace;

struct Case {
  std::string name;
  std::string commands;
  Filtering expected;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class RuleReaderTest : public ::testing::TestWithParam<Case> {};

TEST_P(RuleReaderTest, Judges) {
  const NetworkNamespace ns;
  std::optional<sys::RuleReader> reader;
  ns.run([&] { reader.emplace(*sys::RuleReader::open()); });
  ns.shell(GetParam().commands);
  const auto filtering = reader->read();
  ASSERT_TRUE(filtering) << to_string(filtering.error());
  EXPECT_EQ(*filtering, GetParam().expected);
}

const std::string kNat =
    "nft add table ip n && nft 'add chain ip n p { type nat hook postrouting priority 100; }' && ";
const std::string kFilter =
    "nft add table inet f && nft 'add chain inet f o { type filter hook output priority 0; }' && ";
const std::string kDevice =
    "ip link add d0 type veth peer name d9 && ip link set d9 up && ip link set d0 up && ";

INSTANTIATE_TEST_SUITE_P(
    Rules, RuleReaderTest,
    ::testing::Values(
        Case{"Nothing", "true", Filtering::none},
        Case{"EmptyTable", "nft add table ip t", Filtering::none},
        Case{"Masquerade",
             kNat + "nft add rule ip n p ip saddr 10.4.0.0/24 oifname tap0 masquerade",
             Filtering::masquerade_only},
        Case{"SourceNat", kNat + "nft add rule ip n p snat to 10.9.0.9",
             Filtering::masquerade_only},
        Case{"DestinationNat",
             "nft add table ip n && nft 'add chain ip n o { type nat hook output priority -100; }' "
             "&&"
             "nft add rule ip n o ip daddr 203.0.113.1 dnat to 10.9.0.9",
             Filtering::unknown},
        Case{"Redirect",
             "nft add table ip n && nft 'add chain ip n o { type nat hook output priority -100; }' "
             "&&"
             "nft add rule ip n o tcp dport 80 redirect to :8080",
             Filtering::unknown},
        Case{"AcceptAndCount", kFilter + "nft add rule inet f o tcp dport 80 counter accept",
             Filtering::masquerade_only},
        Case{"Drop", kFilter + "nft add rule inet f o ip daddr 203.0.113.1 drop",
             Filtering::unknown},
        Case{"Reject", kFilter + "nft add rule inet f o tcp dport 25 reject", Filtering::unknown},
        Case{"DropPolicy",
             "nft add table ip f && nft 'add chain ip f o { type filter hook output priority 0;"
             " policy drop; }'",
             Filtering::unknown},
        Case{"DropInAJumpedChain",
             kFilter + "nft add chain inet f sub && nft add rule inet f sub drop &&"
                       "nft add rule inet f o jump sub",
             Filtering::unknown},
        Case{"VerdictMap", kFilter + "nft 'add rule inet f o tcp dport vmap { 25 : drop }'",
             Filtering::unknown},
        Case{"PacketBytesWritten", kFilter + "nft add rule inet f o ip dscp set cs1",
             Filtering::unknown},
        Case{"MarkAlone", kFilter + "nft add rule inet f o meta mark set 1",
             Filtering::masquerade_only},
        Case{"IptablesNftMasquerade",
             "iptables-nft -t nat -A POSTROUTING -s 10.4.0.0/24 ! -o br0 -m comment --comment x -j "
             "MASQUERADE && iptables-nft -N SUB && iptables-nft -A FORWARD -j SUB &&"
             "iptables-nft -A SUB -d 10.4.0.0/24 -m conntrack --ctstate RELATED,ESTABLISHED -j "
             "ACCEPT",
             Filtering::masquerade_only},
        Case{"IptablesNftDnat",
             "iptables-nft -t nat -A PREROUTING -p tcp --dport 80 -j DNAT --to 10.4.0.2:80",
             Filtering::unknown},
        Case{"Ip6tablesNftReject", "ip6tables-nft -A OUTPUT -d 2001:db8::/32 -j REJECT",
             Filtering::unknown},
        Case{"LegacyEmptyTable", "iptables-legacy -L -n >/dev/null", Filtering::masquerade_only},
        Case{"LegacyMasquerade",
             "iptables-legacy -t nat -A POSTROUTING -s 10.4.0.0/24 -j MASQUERADE &&"
             "iptables-legacy -N SUB && iptables-legacy -A OUTPUT -j SUB &&"
             "iptables-legacy -A SUB -p tcp -j ACCEPT && iptables-legacy -A SUB -j RETURN",
             Filtering::masquerade_only},
        Case{"LegacyDrop", "iptables-legacy -A OUTPUT -d 203.0.113.1 -j DROP", Filtering::unknown},
        Case{"LegacyDropPolicy", "iptables-legacy -P FORWARD DROP", Filtering::unknown},
        Case{"LegacyRedirect",
             "iptables-legacy -t nat -A OUTPUT -p tcp --dport 80 -j REDIRECT --to-ports 8080",
             Filtering::unknown},
        Case{"Legacy6Reject", "ip6tables-legacy -A OUTPUT -d 2001:db8::/32 -j REJECT",
             Filtering::unknown},
        Case{"RuleByDestination", "ip rule add to 203.0.113.0/24 lookup 7", Filtering::none},
        Case{"RuleByMark", "ip rule add fwmark 1 lookup 7", Filtering::unknown},
        Case{"RuleBySource", "ip -6 rule add from fd09::2 lookup 7", Filtering::unknown},
        Case{"RuleByPort", "ip rule add dport 443 lookup 7", Filtering::unknown},
        Case{"RuleByUser", "ip rule add uidrange 5-6 lookup 7", Filtering::unknown},
        Case{"PlainQueue", kDevice + "tc qdisc add dev d0 root pfifo", Filtering::none},
        Case{"ShapingQueue",
             kDevice + "tc qdisc add dev d0 root tbf rate 1mbit burst 10k latency 10ms",
             Filtering::unknown},
        Case{"Classifier", kDevice + "tc qdisc add dev d0 clsact", Filtering::unknown},
        Case{"XfrmPolicy",
             "ip xfrm policy add src 10.9.0.2 dst 203.0.113.0/24 dir out tmpl src 10.9.0.2 dst "
             "10.9.0.1 proto esp mode tunnel",
             Filtering::unknown}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace sockhop
