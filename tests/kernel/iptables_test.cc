// Rules of iptables by both back ends, and those that container engines write.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/rule_probe.h"

namespace sockhop {
namespace {

using namespace tests;  // NOLINT(google-build-using-namespace): probes, cases
using Case = RuleCase;

class IptablesTest : public ::testing::TestWithParam<Case> {};

TEST_P(IptablesTest, Judges) { judge(GetParam()); }

// One transaction, as `nft -f` reads it.
std::string nft(std::string text) {
  // nft 1.0 takes no brace behind another one on its line.
  for (auto at = text.find("} }"); at != std::string::npos; at = text.find("} }"))
    text[at + 1] = '\n';
  return "nft -f - <<'END'\n" + text + "\nEND\n";
}

// A shell script with the program that IPT stands for.
std::string script_of(const std::string& rules, const std::string& iptables) {
  return "set -e; IPT() { " + iptables + " -w \"$@\"; }\n" + rules;
}

// dockerd 20.10 to 26 below RootlessKit: a bridge, one published port (8080 to 80).
std::string docker(const std::string& iptables) {
  const std::string text = R"(
IPT -t nat -N DOCKER
IPT -t nat -A PREROUTING -m addrtype --dst-type LOCAL -j DOCKER
IPT -t nat -A OUTPUT ! -d 127.0.0.0/8 -m addrtype --dst-type LOCAL -j DOCKER
IPT -t nat -A POSTROUTING -s 172.17.0.0/16 ! -o docker0 -j MASQUERADE
IPT -t nat -A POSTROUTING -s 172.17.0.2/32 -d 172.17.0.2/32 -p tcp -m tcp --dport 80 -j MASQUERADE
IPT -t nat -A DOCKER -i docker0 -j RETURN
IPT -t nat -A DOCKER ! -i docker0 -p tcp -m tcp --dport 8080 -j DNAT --to-destination 172.17.0.2:80
IPT -P FORWARD DROP
IPT -N DOCKER
IPT -N DOCKER-USER
IPT -N DOCKER-ISOLATION-STAGE-1
IPT -N DOCKER-ISOLATION-STAGE-2
IPT -A FORWARD -j DOCKER-USER
IPT -A FORWARD -j DOCKER-ISOLATION-STAGE-1
IPT -A FORWARD -o docker0 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
IPT -A FORWARD -o docker0 -j DOCKER
IPT -A FORWARD -i docker0 ! -o docker0 -j ACCEPT
IPT -A FORWARD -i docker0 -o docker0 -j ACCEPT
IPT -A DOCKER -d 172.17.0.2/32 ! -i docker0 -o docker0 -p tcp -m tcp --dport 80 -j ACCEPT
IPT -A DOCKER-ISOLATION-STAGE-1 -i docker0 ! -o docker0 -j DOCKER-ISOLATION-STAGE-2
IPT -A DOCKER-ISOLATION-STAGE-1 -j RETURN
IPT -A DOCKER-ISOLATION-STAGE-2 -o docker0 -j DROP
IPT -A DOCKER-ISOLATION-STAGE-2 -j RETURN
IPT -A DOCKER-USER -j RETURN
)";
  return script_of(text, iptables);
}

// CNI's bridge, firewall and portmap plugins: nerdctl run -p 8080:80.
std::string cni(const std::string& iptables) {
  const std::string rules = R"(
IPT -t nat -N CNI-aaa
IPT -t nat -A POSTROUTING -s 172.17.0.2/32 -m comment --comment "name: br id: aaa" -j CNI-aaa
IPT -t nat -A CNI-aaa -d 172.17.0.0/16 -m comment --comment "name: br" -j ACCEPT
IPT -t nat -A CNI-aaa ! -d 224.0.0.0/4 -m comment --comment "name: br" -j MASQUERADE
IPT -t nat -N CNI-HOSTPORT-SETMARK
IPT -t nat -N CNI-HOSTPORT-MASQ
IPT -t nat -N CNI-HOSTPORT-DNAT
IPT -t nat -N CNI-DN-aaa
IPT -t nat -A CNI-HOSTPORT-SETMARK -m comment --comment "CNI portfwd masquerade mark" -j MARK --set-xmark 0x2000/0x2000
IPT -t nat -A CNI-HOSTPORT-MASQ -m mark --mark 0x2000/0x2000 -j MASQUERADE
IPT -t nat -A POSTROUTING -m comment --comment "CNI portfwd requiring masquerade" -j CNI-HOSTPORT-MASQ
IPT -t nat -A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT
IPT -t nat -A OUTPUT -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT
IPT -t nat -A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: br" -m multiport --dports 8080,443 -j CNI-DN-aaa
IPT -t nat -A CNI-DN-aaa -s 172.17.0.0/16 -p tcp -m tcp --dport 8080 -j CNI-HOSTPORT-SETMARK
IPT -t nat -A CNI-DN-aaa -s 127.0.0.1/32 -p tcp -m tcp --dport 8080 -j CNI-HOSTPORT-SETMARK
IPT -t nat -A CNI-DN-aaa -p tcp -m tcp --dport 8080 -j DNAT --to-destination 172.17.0.2:80
IPT -t nat -A CNI-DN-aaa -p tcp -m tcp --dport 443 -j DNAT --to-destination 172.17.0.2:443
IPT -P FORWARD DROP
IPT -N CNI-ADMIN
IPT -N CNI-FORWARD
IPT -A FORWARD -m comment --comment "CNI firewall plugin rules" -j CNI-FORWARD
IPT -A CNI-FORWARD -m comment --comment "CNI firewall plugin admin overrides" -j CNI-ADMIN
IPT -A CNI-FORWARD -d 172.17.0.2/32 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
IPT -A CNI-FORWARD -s 172.17.0.2/32 -j ACCEPT
)";
  return script_of(rules, iptables);
}

INSTANTIATE_TEST_SUITE_P(
    Engines, IptablesTest,
    ::testing::Values(
        Case{"DockerByNft", docker("iptables-nft"), {kOut, kThrough, kThroughToWeb}, {}},
        Case{"DockerByLegacy", docker("iptables-legacy"), {kOut, kThrough, kThroughToWeb}, {}},
        Case{"DockerWithARuleOfTheUsers",
             docker("iptables-nft") +
                 "iptables-nft -I DOCKER-USER -i docker0 -p tcp --dport 25 -j REJECT",
             {kThrough},
             {kThroughToMail}},
        Case{"DockerWithALegacyRuleOfTheUsers",
             docker("iptables-legacy") +
                 "iptables-legacy -I DOCKER-USER -i docker0 -p tcp --dport 25 -j REJECT",
             {kThrough},
             {kThroughToMail}},
        Case{"CniByNft", cni("iptables-nft"), {kOut, kThrough}, {}},
        Case{"CniByLegacy", cni("iptables-legacy"), {kOut, kThrough}, {}},
        Case{"Netavark",
             nft(R"(table inet netavark {
 chain INPUT { type filter hook input priority filter; policy accept; }
 chain FORWARD { type filter hook forward priority filter; policy accept;
  ct state invalid drop
  jump NETAVARK-ISOLATION-3; }
 chain NETAVARK-ISOLATION-3 { counter; }
 chain POSTROUTING { type nat hook postrouting priority srcnat; policy accept;
  meta mark & 0x00002000 == 0x00002000 masquerade
  ip saddr 172.17.0.0/16 jump nv_1; }
 chain nv_1 { ip daddr 172.17.0.0/16 accept
  ip daddr != 224.0.0.0/4 masquerade; }
 chain PREROUTING { type nat hook prerouting priority dstnat; policy accept;
  fib daddr type local jump HOSTPORT-DNAT; }
 chain OUTPUT { type nat hook output priority -100; policy accept;
  fib daddr type local jump HOSTPORT-DNAT; }
 chain HOSTPORT-DNAT { tcp dport 443 dnat ip to 172.17.0.2:443; } })"),
             {kOut, kThrough, kThrough6},
             {}}),
    [](const auto& one) { return one.param.name; });

std::string both(const std::string& rule) {
  return "iptables-nft " + rule + " && ip6tables-nft " + rule;
}

INSTANTIATE_TEST_SUITE_P(
    Iptables, IptablesTest,
    ::testing::Values(
        Case{"NftRejectByAddress",
             "ip6tables-nft -A OUTPUT -d 2001:db8::/32 -j REJECT",
             {kOut},
             {kOut6}},
        Case{"NftByMultiport",
             both("-A OUTPUT -p tcp -m multiport --dports 20:30,110 -j DROP") + " && " +
                 both("-A OUTPUT -p tcp -m multiport ! --dports 1:1024 -j DROP"),
             {kOut, kOut6, kThroughToMail},
             {kOutToMail}},
        Case{
            "NftByOwner", "iptables-nft -A OUTPUT -m owner --uid-owner 5 -j DROP", {kOut6}, {kOut}},
        Case{"NftUnknownMatchAccepts",
             "iptables-nft -P OUTPUT DROP && iptables-nft -A OUTPUT -m owner --uid-owner 0 -j "
             "ACCEPT",
             {kOut6},
             {kOut}},
        Case{"LegacyEmptyTable", "iptables-legacy -L -n >/dev/null", {kOut, kThrough}, {}},
        Case{"LegacyByAddress",
             "iptables-legacy -A OUTPUT -d 203.0.113.0/24 -p tcp --dport 25 -j DROP",
             {kOut, kOut6, kThroughToMail},
             {kOutToMail}},
        Case{"LegacyNotByAddress",
             "iptables-legacy -A OUTPUT ! -d 203.0.113.0/24 -j DROP",
             {kOut},
             {}},
        Case{
            "LegacyByDevice",
            "iptables-legacy -A OUTPUT -o eth+ -j DROP && iptables-legacy -A OUTPUT ! -o e+ -j DROP"
            " && iptables-legacy -A FORWARD -i eth0 -j DROP",
            {kThrough},
            {kOut}},
        Case{"LegacyByOtherDevice",
             "iptables-legacy -A OUTPUT -o wg0 -j DROP && iptables-legacy -A OUTPUT ! -o eth0 -j "
             "DROP",
             {kOut},
             {}},
        Case{"LegacyPolicy",
             "iptables-legacy -P FORWARD DROP && iptables-legacy -A FORWARD -i docker0 -p tcp "
             "--dport 443 -j ACCEPT && iptables-legacy -A FORWARD -m state --state ESTABLISHED -j "
             "ACCEPT",
             {kOut, kThrough},
             {kThroughToMail}},
        Case{"LegacyGoto",
             "iptables-legacy -N SUB && iptables-legacy -A OUTPUT -g SUB && iptables-legacy -A "
             "OUTPUT -j DROP && iptables-legacy -A SUB -p tcp --dport 25 -j DROP",
             {kOut},
             {kOutToMail}},
        Case{"LegacyJumpComesBack",
             "iptables-legacy -N SUB && iptables-legacy -A OUTPUT -j SUB && iptables-legacy -A "
             "OUTPUT -p tcp --dport 25 -j DROP && iptables-legacy -A SUB -p udp -j DROP",
             {kOut},
             {kOutToMail}},
        Case{"LegacyRedirect",
             "iptables-legacy -t nat -A OUTPUT -p tcp --dport 80 -j REDIRECT --to-ports 8080",
             {kOut},
             {kOutToWeb}},
        Case{"LegacyMark",
             "iptables-legacy -t mangle -A OUTPUT -p tcp --dport 25 -j MARK --set-mark 7 &&"
             "iptables-legacy -A OUTPUT -m mark --mark 7 -j DROP",
             {kOut},
             {kOutToMail}},
        Case{"Legacy6Reject",
             "ip6tables-legacy -A OUTPUT -d 2001:db8::/32 -p tcp -j REJECT",
             {kOut},
             {kOut6}},
        Case{
            "Legacy6ByPort",
            "ip6tables-legacy -P FORWARD DROP && ip6tables-legacy -A FORWARD -s fd17::/16 -j ACCEPT"
            " && ip6tables-legacy -A FORWARD -d fd17::/16 -j ACCEPT",
            {kThrough, kThrough6},
            {}}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace sockhop
