// Rules of nftables, and what else stands in a packet's way.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/rule_probe.h"

namespace sockhop {
namespace {

using namespace tests;  // NOLINT(google-build-using-namespace): probes, cases
using Case = RuleCase;

class RuleReaderTest : public ::testing::TestWithParam<Case> {};

TEST_P(RuleReaderTest, Judges) { judge(GetParam()); }

// One transaction, as `nft -f` reads it.
std::string nft(std::string text) {
  // nft 1.0 takes no brace behind another one on its line.
  for (auto at = text.find("} }"); at != std::string::npos; at = text.find("} }"))
    text[at + 1] = '\n';
  return "nft -f - <<'END'\n" + text + "\nEND\n";
}

std::string out_chain(const std::string& rules, const std::string& more = "") {
  return nft("table inet f { " + more + "\n chain o { type filter hook output priority 0;\n" +
             rules + "\n} }");
}

const std::string kDevice =
    "ip link add d0 type veth peer name d9 && ip link set d9 up && ip link set d0 up && ";

INSTANTIATE_TEST_SUITE_P(
    Nft, RuleReaderTest,
    ::testing::Values(
        Case{"Nothing", "true", {kOut, kThrough}, {}},
        Case{"EmptyTable", "nft add table ip t", {kOut, kThrough}, {}},
        Case{"ByAddress", out_chain("ip daddr 203.0.113.0/24 drop"), {kOut6, kThrough}, {kOut}},
        Case{"OtherAddress", out_chain("ip daddr 203.0.114.0/24 drop"), {kOut, kOut6}, {}},
        Case{"ByAddress6", out_chain("ip6 daddr 2001:db8::/32 reject"), {kOut}, {kOut6}},
        Case{"ByPort",
             out_chain("tcp dport 25 reject"),
             {kOut, kOut6, kThroughToMail},
             {kOutToMail}},
        Case{
            "ByOtherProtocol", out_chain("udp dport 443 drop\nmeta l4proto icmp drop"), {kOut}, {}},
        Case{"ByPortRange",
             out_chain("tcp dport 1-100 drop\ntcp dport != 1-1000 drop"),
             {kOut},
             {kOutToMail}},
        Case{"ByDevice",
             out_chain("oifname \"wg*\" drop\noifname \"eth1\" drop\noif lo drop"),
             {kOut},
             {}},
        Case{"ByDeviceOfOurs", out_chain("oifname \"et*\" drop"), {kThrough}, {kOut}},
        Case{"BySource", out_chain("ip saddr 172.17.0.0/30 drop"), {kOut6}, {kOut}},
        Case{"AnonymousSet", out_chain("tcp dport { 25, 110 } drop"), {kOut}, {kOutToMail}},
        Case{"NotInSet",
             out_chain("tcp dport != { 80, 443 } drop"),
             {kOut, kOutToWeb},
             {kOutToMail}},
        Case{"NamedSet",
             out_chain("ip daddr @bad drop",
                       "set bad { type ipv4_addr; elements = { 203.0.113.1, 10.0.0.1 }; }"),
             {kOut6},
             {kOut}},
        Case{"IntervalSet",
             out_chain("ip daddr @bad drop\ntcp dport { 20-30, 100-200 } drop",
                       "set bad { type ipv4_addr; flags interval; elements = { 203.0.112.0/24, "
                       "203.0.113.2-203.0.113.9, 10.0.0.0/8 }; }"),
             {kOut, kOut6},
             {kOutToMail}},
        Case{
            "IntervalSetOfOurs",
            out_chain("ip daddr @bad drop",
                      "set bad { type ipv4_addr; flags interval; elements = { 203.0.113.0/24 }; }"),
            {kOut6},
            {kOut}},
        Case{"SetThatPacketsFill",
             out_chain("ip daddr @seen drop",
                       "set seen { type ipv4_addr; flags dynamic, timeout; timeout 1m; }"),
             {kOut6},
             {kOut}},
        Case{"Concatenation",
             out_chain("ip daddr . tcp dport { 203.0.113.1 . 25 } drop"),
             {kOut},
             {kOutToMail}},
        Case{"ConcatenatedIntervals",
             out_chain("ip daddr . tcp dport @bad drop",
                       "set bad { type ipv4_addr . inet_service; flags interval; elements = { "
                       "203.0.113.0/24 . 20-30 }; }"),
             {kOut},
             {kOutToMail}},
        Case{"VerdictMap",
             out_chain("tcp dport vmap { 25 : drop, 443 : accept }\ndrop"),
             {kOut},
             {kOutToMail, kOutToWeb}},
        Case{"VerdictMapOfIntervals",
             out_chain("tcp dport vmap { 1-79 : drop, 80-100 : accept, 443 : jump web }",
                       "chain web { counter accept; }"),
             {kOut, kOutToWeb},
             {kOutToMail}},
        Case{"CatchAll",
             out_chain("tcp dport vmap @m",
                       "map m { type inet_service : verdict; elements = { 443 : accept, * : drop "
                       "}; }"),
             {kOut},
             {kOutToMail}},
        Case{"NewConnections",
             out_chain("ct state new tcp dport 25 drop\nct state invalid drop"),
             {kOut},
             {kOutToMail}},
        Case{"EstablishedOnly", out_chain("ct state established,related accept\ndrop"), {}, {kOut}},
        Case{"TcpFlags",
             out_chain("tcp flags & (fin|syn|rst|ack) != syn ct state new drop\n"
                       "tcp flags & (syn|fin) == syn|fin ct state new drop"),
             {kOut},
             {}},
        Case{"DroppingPolicyWithAccept",
             nft("table ip f { chain o { type filter hook output priority 0; policy drop;\n"
                 "ip daddr 203.0.113.0/24 tcp dport 443 accept; } }"),
             {kOut, kOut6, kThrough},
             {kOutToMail}},
        Case{"InputDropsAnswers",
             nft("table ip f { chain i { type filter hook input priority 0; policy drop;\n"
                 "ct state established tcp sport 443 accept; } }"),
             {kOut, kThrough},
             {kOutToMail}},
        Case{"TwoChainsAtOneHook",
             nft("table ip f { chain a { type filter hook output priority 0; accept; }\n"
                 "chain b { type filter hook output priority 10; tcp dport 25 drop; } }"),
             {kOut},
             {kOutToMail}},
        Case{"JumpGotoReturn",
             out_chain("jump one\ngoto two\ndrop",
                       "chain one { tcp dport 25 goto three; return; }\n"
                       "chain three { counter; }\n"
                       "chain two { tcp dport 80 drop; accept; }"),
             {kOut, kOutToMail},
             {kOutToWeb}},
        Case{"MarkThatNobodySets", out_chain("meta mark 7 drop"), {kOut}, {}},
        Case{"MarkThatIsSet",
             out_chain("tcp dport 25 meta mark set 7\nmeta mark and 0xff == 7 drop"),
             {kOut},
             {kOutToMail}},
        Case{"MarkByConnection", out_chain("meta mark set ct mark\nmeta mark 7 drop"), {}, {kOut}},
        Case{"ByUser", out_chain("meta skuid 1000 drop"), {kThrough}, {kOut}},
        Case{"ByUserAccepts",
             out_chain("meta skuid 0 accept\ntcp dport 25 drop"),
             {kOut},
             {kOutToMail}},
        Case{"ByRate",
             out_chain("tcp dport 25 limit rate over 5/second drop"),
             {kOut},
             {kOutToMail}},
        Case{"AddressTranslation",
             nft("table ip n { chain o { type nat hook output priority -100;\n"
                 "ip daddr 203.0.113.1 tcp dport 80 dnat to 10.9.0.9; tcp dport 25 redirect to "
                 ":2525; } }"),
             {kOut, kThroughToWeb},
             {kOutToWeb, kOutToMail}},
        Case{"TransparentProxy",
             nft("table ip m { chain p { type filter hook prerouting priority -150;\n"
                 "iifname docker0 tcp dport 80 tproxy to :3129 accept; } }"),
             {kThrough, kOut, kOutToWeb},
             {kThroughToWeb}},
        Case{"PacketBytesWritten", out_chain("tcp dport 25 ip dscp set cs1"), {kOut}, {kOutToMail}},
        Case{"SourceTranslation",
             nft("table ip n { chain p { type nat hook postrouting priority 100;\n"
                 "oifname tap0 snat to 10.9.0.9; masquerade; } }"),
             {kOut, kThrough},
             {}},
        Case{
            "DormantTable",
            nft("table ip f { flags dormant; chain o { type filter hook output priority 0; drop; } "
                "}"),
            {kOut},
            {}},
        Case{"DeviceIngress",
             kDevice + nft("table netdev f { chain i { type filter hook ingress device d0 priority "
                           "0; tcp dport 25 drop; } }"),
             {},
             {kOut, kThrough}},
        Case{
            "Bridge",
            nft("table bridge f { chain i { type filter hook forward priority 0; ip daddr 10.9.9.9 "
                "drop; } }"),
            {},
            {kOut, kThrough}},
        Case{
            "BridgeThatOnlyCounts",
            nft("table bridge f { chain i { type filter hook forward priority 0; counter accept; } "
                "}"),
            {kOut, kThrough},
            {}}),
    [](const auto& one) { return one.param.name; });

INSTANTIATE_TEST_SUITE_P(
    BesideNetfilter, RuleReaderTest,
    ::testing::Values(
        Case{"RuleByDestination", "ip rule add to 203.0.113.0/24 lookup 7", {kOut, kThrough}, {}},
        Case{"RuleByMark", "ip rule add fwmark 1 lookup 7", {kOut, kThrough}, {}},
        Case{"RuleByMarkThatIsSet",
             "ip rule add fwmark 7 lookup 7 && " + out_chain("tcp dport 25 meta mark set 7"),
             {kOut, kThroughToMail},
             {kOutToMail}},
        Case{"RuleByMarkWhereMarksAreSetElsewhere",
             "ip rule add fwmark 7 lookup 7 && iptables-legacy -t mangle -A OUTPUT -p tcp --dport "
             "25 -j MARK --set-mark 7 && " +
                 out_chain("counter"),
             {},
             {kOutToMail}},
        Case{"RuleByDevice", "ip rule add iif lo lookup 7", {kOut}, {kThrough}},
        Case{"RuleBySource", "ip -6 rule add from fd09::2 lookup 7", {}, {kOut, kThrough}},
        Case{"RuleByPort", "ip rule add dport 443 lookup 7", {}, {kOut}},
        Case{"RuleByUser", "ip rule add uidrange 5-6 lookup 7", {}, {kOut}},
        Case{"RuleByTos", "ip rule add tos 0x10 lookup 7", {}, {kOut}},
        Case{"PlainQueue", kDevice + "tc qdisc add dev d0 root pfifo", {kOut}, {}},
        Case{"ShapingQueue",
             kDevice + "tc qdisc add dev d0 root tbf rate 1mbit burst 10k latency 10ms",
             {},
             {kOut}},
        Case{"Classifier", kDevice + "tc qdisc add dev d0 clsact", {}, {kOut, kThrough}},
        Case{"XfrmPolicy",
             "ip xfrm policy add src 10.9.0.2 dst 203.0.113.0/24 dir out tmpl src 10.9.0.2 dst "
             "10.9.0.1 proto esp mode tunnel",
             {},
             {kOut}}),
    [](const auto& one) { return one.param.name; });

TEST(RuleReader, TellsWhetherAnythingChanged) {
  const NetworkNamespace ns;
  std::optional<sys::RuleReader> reader;
  ns.run([&] { reader.emplace(*sys::RuleReader::open()); });
  ns.shell(out_chain("tcp dport 25 drop"));
  core::NamespaceRules known;
  const auto changed = [&](const std::string& commands) {
    ns.shell(commands);
    auto read = reader->read(std::move(known));
    EXPECT_TRUE(read) << commands;
    known = std::move(read->rules);
    return read->changed;
  };
  EXPECT_TRUE(changed("true"));
  EXPECT_FALSE(changed("true"));
  EXPECT_TRUE(told(known, kOutToMail).starts_with("stays"));
  EXPECT_TRUE(changed("nft add element inet f none 2>/dev/null; nft flush ruleset"));
  EXPECT_EQ(told(known, kOutToMail), "passes");
  EXPECT_TRUE(changed("iptables-legacy -A OUTPUT -p tcp --dport 25 -j DROP"));
  EXPECT_TRUE(told(known, kOutToMail).starts_with("stays"));
  EXPECT_FALSE(changed("iptables-legacy -L -n -Z >/dev/null"));
  EXPECT_TRUE(changed("ip rule add uidrange 5-6 lookup 7"));
  EXPECT_TRUE(changed(kDevice + "tc qdisc add dev d0 clsact"));
}

}  // namespace
}  // namespace sockhop
