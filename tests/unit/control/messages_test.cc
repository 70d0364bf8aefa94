// core's vocabulary through the internal messages and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sys/messages/convert.h"

namespace sockhop::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

core::Address address(const char* text) { return core::Address::parse(text).value(); }

Port port_message() {
  core::PublishedPort port;
  port.host = {.address = address("198.51.100.7"), .port = 8080};
  port.container_port = 80;
  port.protocol = core::Protocol::udp;
  Port message;
  fill(message, port);
  return message;
}

TEST(Messages, PortComesBack) {
  const auto port = port_of(port_message());
  ASSERT_TRUE(port);
  EXPECT_EQ(core::to_string(port->host), "198.51.100.7:8080");
  EXPECT_EQ(port->container_port, 80);
  EXPECT_EQ(port->protocol, core::Protocol::udp);
}

TEST(Messages, PortsThatNoCommandMakesAreRefused) {
  auto message = port_message();
  message.set_host_port(65536);
  EXPECT_FALSE(port_of(message));
  message = port_message();
  message.set_container_port(0);
  EXPECT_FALSE(port_of(message));
  message = port_message();
  message.set_protocol(132);
  EXPECT_FALSE(port_of(message));
  message = port_message();
  message.set_host_address("1234");
  EXPECT_FALSE(port_of(message));
}

TEST(Messages, PolicyComesBack) {
  core::Policy policy;
  policy.accelerate = false;
  policy.names_of_host = true;
  policy.strict = true;
  policy.host_local_hop = true;
  policy.rules = {core::parse_rule("deny=eacces 203.0.113.0/24:1-1024/tcp").value()};
  policy.uplinks = {"tap7"};
  Policy message;
  fill(message, policy);
  const auto back = policy_of(message);
  ASSERT_TRUE(back);
  EXPECT_FALSE(back->accelerate);
  EXPECT_TRUE(back->names_of_host && back->strict && back->host_local_hop);
  ASSERT_EQ(back->rules.size(), 1u);
  EXPECT_EQ(core::to_string(back->rules[0]), core::to_string(policy.rules[0]));
  EXPECT_THAT(back->uplinks, ElementsAre("tap7"));
}

TEST(Messages, RuleThatCannotBeReadIsNamed) {
  Policy message;
  message.add_rules("stay everywhere");
  const auto policy = policy_of(message);
  ASSERT_FALSE(policy);
  EXPECT_THAT(to_string(policy.error()), HasSubstr("everywhere"));
}

TEST(Messages, UplinkComesBackWithoutWhatCannotBeRead) {
  core::Uplink uplink;
  uplink.netns_inode = 4026531840;
  uplink.device = "tap0";
  uplink.kind = core::UplinkKind::pasta;
  uplink.outbound_fixed = true;
  uplink.mapped = {address("10.0.2.2")};
  google::protobuf::RepeatedPtrField<Uplink> messages;
  fill(*messages.Add(), uplink);
  messages[0].add_mapped("short");
  const auto all = uplinks_of(messages);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].netns_inode, uplink.netns_inode);
  EXPECT_EQ(all[0].device, "tap0");
  EXPECT_EQ(all[0].kind, core::UplinkKind::pasta);
  EXPECT_TRUE(all[0].outbound_fixed);
  EXPECT_THAT(all[0].mapped, ElementsAre(address("10.0.2.2")));
}

TEST(Messages, DestinationToExplain) {
  ExplainRequest message;
  message.set_address(bytes_of(address("fd00::2")));
  message.set_port(443);
  const auto destination = endpoint_of(message);
  ASSERT_TRUE(destination);
  EXPECT_EQ(core::to_string(*destination), "[fd00::2]:443");
  message.set_port(0);
  EXPECT_FALSE(endpoint_of(message));
}

}  // namespace
}  // namespace sockhop::internal
