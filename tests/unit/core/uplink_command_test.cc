#include "core/uplink_command.h"

#include <gtest/gtest.h>

namespace sockhop::core {
namespace {

using Words = std::vector<std::string>;

UplinkCommand parse(const Words& words) {
  const auto command = parse_uplink_command(words);
  EXPECT_TRUE(command);
  return command.value_or(UplinkCommand{});
}

TEST(UplinkCommand, RootlessKitsSlirp) {
  const auto command =
      parse({"/usr/bin/slirp4netns", "--mtu", "65520", "-r", "3", "--disable-host-loopback",
             "--enable-sandbox", "--enable-seccomp", "2723", "tap0"});
  EXPECT_EQ(command.kind, UplinkKind::slirp4netns);
  EXPECT_EQ(std::get<std::int64_t>(command.target), 2723);
  EXPECT_EQ(command.device, "tap0");
  EXPECT_FALSE(command.outbound_fixed);
  EXPECT_EQ(command.mapped,
            (std::vector{*Address::parse("10.0.2.2"), *Address::parse("10.0.2.3")}));
}

TEST(UplinkCommand, PodmansSlirp) {
  const auto command =
      parse({"slirp4netns", "--disable-host-loopback", "--mtu=65520", "--enable-ipv6", "-c", "-r",
             "3", "--cidr", "10.7.0.0/24", "--outbound-addr=10.9.0.2", "--netns-type=path",
             "/run/user/1000/netns/netns-1", "tap1"});
  EXPECT_EQ(std::get<std::string>(command.target), "/run/user/1000/netns/netns-1");
  EXPECT_EQ(command.device, "tap1");
  EXPECT_TRUE(command.outbound_fixed);
  EXPECT_EQ(command.mapped.front(), *Address::parse("10.7.0.2"));
}

TEST(UplinkCommand, SlirpWithoutTargetOrForAnotherPurposeIsNone) {
  EXPECT_FALSE(parse_uplink_command({"slirp4netns"}));
  EXPECT_FALSE(parse_uplink_command({"slirp4netns", "nonsense", "tap0"}));
  EXPECT_FALSE(parse_uplink_command({"slirp4netns", "--target-type=bess", "5", "tap0"}));
  EXPECT_FALSE(parse_uplink_command({}));
  EXPECT_FALSE(parse_uplink_command({"nginx", "5", "tap0"}));
}

TEST(UplinkCommand, PastaByPid) {
  const auto command = parse({"pasta", "--config-net", "-q", "-I", "ext0", "-t", "80:80",
                              "--dns-forward", "10.0.2.3", "-g10.0.2.2", "1654"});
  EXPECT_EQ(command.kind, UplinkKind::pasta);
  EXPECT_EQ(std::get<std::int64_t>(command.target), 1654);
  EXPECT_EQ(command.device, "ext0");
  EXPECT_FALSE(command.outbound_fixed);
  EXPECT_EQ(command.mapped,
            (std::vector{*Address::parse("10.0.2.3"), *Address::parse("10.0.2.2")}));
}

TEST(UplinkCommand, PastaByPathOrName) {
  EXPECT_EQ(std::get<std::string>(parse({"pasta", "--netns", "/run/x/ns"}).target), "/run/x/ns");
  EXPECT_EQ(std::get<std::string>(parse({"pasta", "--netns=blue"}).target), "/run/netns/blue");
}

TEST(UplinkCommand, PastaWithACommandServesItsChild) {
  const auto command = parse({"pasta", "-i", "wan", "--", "curl", "-o", "file"});
  EXPECT_TRUE(std::holds_alternative<UplinkCommand::OfChild>(command.target));
  EXPECT_EQ(command.device, "wan");
  EXPECT_FALSE(parse({"pasta", "-q", "curl", "-o", "file"}).outbound_fixed);
}

TEST(UplinkCommand, PastaBoundOutsideOrWithoutTcp) {
  for (const char* option : {"-o10.9.0.2", "--outbound-if4=wan", "--outbound=10.9.0.2", "--no-tcp",
                             "--outbound-if6=wan", "--outb=10.9.0.2", "--no-tc"}) {
    EXPECT_TRUE(parse({"pasta", option, "5"}).outbound_fixed) << option;
  }
  for (const char* option : {"--no-map-gw", "--no-udp", "--config-net", "-I", "--no-ndp"}) {
    EXPECT_FALSE(parse({"pasta", option, "5"}).outbound_fixed) << option;
  }
}

TEST(UplinkCommand, OptionWhoseValueIsMissingIsHarmless) {
  EXPECT_TRUE(parse_uplink_command({"pasta", "--ns-ifname"}));
  EXPECT_TRUE(parse_uplink_command({"pasta", "-I"}));
  EXPECT_FALSE(parse_uplink_command({"slirp4netns", "--mtu"}));
}

}  // namespace
}  // namespace sockhop::core
