#include "core/policy.h"

#include <gtest/gtest.h>

namespace sockhop::core {
namespace {

Endpoint endpoint(std::string_view text) { return parse_endpoint(text).value(); }
Rule rule(std::string_view text) { return parse_rule(text).value(); }

TEST(ParseRule, PrintsCanonically) {
  struct Row {
    const char *text, *printed;
  };
  for (const Row& row : {Row{"stay 10.0.0.0/8", "stay 10.0.0.0/8"},
                         {"deny 203.0.113.0/24:1-1024/tcp", "deny 203.0.113.0/24:1-1024/tcp"},
                         {"hop [fd00::]/8:443", "hop [fd00::]/8:443"},
                         {"hop fd00::/8", "hop fd00::/8"},
                         {"hop [fd00::]/8", "hop fd00::/8"},
                         {"hop [fd00::]/8/udp", "hop fd00::/8/udp"},
                         {"hop fd00::/8/udp", "hop fd00::/8/udp"},
                         {"stay 10.1.2.3", "stay 10.1.2.3/32"},
                         {"stay 10.1.2.3/tcp", "stay 10.1.2.3/32/tcp"},
                         {"stay 10.1.2.3:80", "stay 10.1.2.3/32:80"},
                         {"stay [::1]:80-80", "stay [::1]/128:80"},
                         {"deny=eacces ::/0", "deny=eacces ::/0"},
                         {"deny=econnrefused 0.0.0.0/0", "deny 0.0.0.0/0"},
                         {"hop   10.0.0.0/8:0-65535", "hop 10.0.0.0/8"}}) {
    const auto parsed = parse_rule(row.text);
    ASSERT_TRUE(parsed) << row.text;
    EXPECT_EQ(to_string(*parsed), row.printed) << row.text;
    EXPECT_EQ(to_string(parse_rule(to_string(*parsed)).value()), row.printed) << row.text;
  }
}

TEST(ParseRule, RefusesWhatIsNone) {
  for (const char* text : {"",
                           " ",
                           "stay",
                           "stay ",
                           "stay  ",
                           "10.0.0.0/8",
                           "keep 10.0.0.0/8",
                           "Stay 10.0.0.0/8",
                           "deny=eperm 10.0.0.0/8",
                           " stay 10.0.0.0/8",
                           "stay 10.0.0.0/8 ",
                           "stay 10.0.0.0/8 tcp",
                           "stay 10.0.0.0/33",
                           "stay 10.0.0.0/8:",
                           "stay 10.0.0.0/8:x",
                           "stay 10.0.0.0/8:9-8",
                           "stay 10.0.0.0/8:1-",
                           "stay 10.0.0.0/8:-1",
                           "stay 10.0.0.0/8:1-2-3",
                           "stay 10.0.0.0/8:65536",
                           "stay 10.0.0.0/8/sctp",
                           "stay /tcp",
                           "stay fd00::/8:443",
                           "stay [fd00::/8:443",
                           "stay [10.0.0.0]/8",
                           "stay [fd00::]8:443",
                           "stay []:80",
                           "stay [fd00::/8]:443/",
                           "stay [fd00::]x",
                           "stay :80"}) {
    EXPECT_FALSE(parse_rule(text)) << text;
  }
}

TEST(ParseRule, AcceptsThePrefixInsideTheBracketsToo) {
  EXPECT_EQ(to_string(rule("stay [fd00::/8]:443")), "stay [fd00::]/8:443");
}

TEST(ParseRule, RefusalSaysWhatToWrite) {
  const std::string message = to_string(parse_rule("stay 10.0.0.0/8:9-8").error());
  EXPECT_NE(message.find("the ports are no range"), std::string::npos) << message;
  EXPECT_NE(message.find("stay|hop|deny"), std::string::npos) << message;
}

TEST(ParseRule, DenyRefusesUnlessToldOtherwise) {
  EXPECT_EQ(rule("deny 10.0.0.0/8").deny_error, ECONNREFUSED);
  EXPECT_EQ(rule("deny=eacces 10.0.0.0/8").deny_error, EACCES);
}

TEST(FirstMatch, TakesTheFirstThatFits) {
  const std::vector<Rule> rules = {rule("hop 10.0.0.0/8:443"), rule("stay 10.0.0.0/8/udp"),
                                   rule("deny 10.1.0.0/16"), rule("stay 10.0.0.0/8")};
  struct Row {
    const char* destination;
    Protocol protocol;
    int index;
  };
  for (const Row& row : {Row{"10.1.0.1:443", Protocol::tcp, 0},
                         {"10.1.0.1:442", Protocol::tcp, 2},
                         {"10.1.0.1:442", Protocol::udp, 1},
                         {"10.2.0.1:80", Protocol::tcp, 3},
                         {"11.2.0.1:443", Protocol::tcp, -1},
                         {"[fd00::1]:443", Protocol::tcp, -1}}) {
    const Rule* found = first_match(rules, endpoint(row.destination), row.protocol);
    EXPECT_EQ(found, row.index < 0 ? nullptr : &rules[static_cast<std::size_t>(row.index)])
        << row.destination;
  }
}

TEST(FirstMatch, HoldsAtBothEndsOfAPortRange) {
  const std::vector<Rule> rules = {rule("deny 0.0.0.0/0:10-20")};
  for (const auto& [text, inside] : {std::pair{"10.0.0.1:9", false},
                                     {"10.0.0.1:10", true},
                                     {"10.0.0.1:20", true},
                                     {"10.0.0.1:21", false}}) {
    EXPECT_EQ(first_match(rules, endpoint(text), Protocol::tcp) != nullptr, inside) << text;
  }
}

TEST(FirstMatch, FindsNothingInNoRules) {
  EXPECT_EQ(first_match({}, endpoint("10.0.0.1:1"), Protocol::tcp), nullptr);
}

}  // namespace
}  // namespace sockhop::core
