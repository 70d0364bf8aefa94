#include "core/endpoint.h"

#include <gtest/gtest.h>

#include <string>

namespace sockhop::core {
namespace {

Address address(std::string_view text) { return Address::parse(text).value(); }

TEST(Address, OfBothSpellingsIsOneValue) {
  EXPECT_EQ(address("10.0.2.2"), address("::ffff:10.0.2.2"));
  EXPECT_EQ(address("10.0.2.2"), address("::ffff:a00:202"));
  EXPECT_EQ(address("10.0.2.2"), Address::v4(10, 0, 2, 2));
}

TEST(Address, PrintsCanonically) {
  struct Row {
    const char *text, *printed;
  };
  for (const Row& row : {Row{"10.0.2.2", "10.0.2.2"},
                         {"::ffff:10.0.2.2", "10.0.2.2"},
                         {"0.0.0.0", "0.0.0.0"},
                         {"::", "::"},
                         {"0:0:0:0:0:0:0:1", "::1"},
                         {"FD00:0:0::1", "fd00::1"}}) {
    EXPECT_EQ(to_string(address(row.text)), row.printed) << row.text;
  }
}

TEST(Address, RefusesWhatIsNoAddress) {
  for (const std::string& text :
       {std::string(""), std::string("10.0.0"), std::string("10.0.0.256"), std::string("localhost"),
        std::string("::1%1"), std::string("[::1]"), std::string(" ::1"), std::string("::1\0", 4),
        std::string("10.0.0.1/8"), std::string(46, '1'), std::string(100000, ':')}) {
    EXPECT_FALSE(Address::parse(text)) << text.substr(0, 60);
  }
}

TEST(Address, KnowsItsClassInEverySpelling) {
  struct Row {
    const char* text;
    bool v4, unspecified, loopback, multicast, link_local;
  };
  const Row rows[] = {
      {"0.0.0.0", true, true, false, false, false},
      {"::ffff:0.0.0.0", true, true, false, false, false},
      {"::", false, true, false, false, false},
      {"127.0.0.1", true, false, true, false, false},
      {"127.255.255.254", true, false, true, false, false},
      {"::ffff:127.1.2.3", true, false, true, false, false},
      {"::1", false, false, true, false, false},
      {"::127.0.0.1", false, false, false, false, false},  // v4-compatible: ordinary IPv6
      {"126.255.255.255", true, false, false, false, false},
      {"128.0.0.1", true, false, false, false, false},
      {"0.0.0.1", true, false, false, false, false},
      {"223.255.255.255", true, false, false, false, false},
      {"224.0.0.1", true, false, false, true, false},
      {"::ffff:239.1.1.1", true, false, false, true, false},
      {"240.0.0.1", true, false, false, false, false},
      {"ff02::1", false, false, false, true, false},
      {"169.254.0.1", true, false, false, false, true},
      {"169.253.0.1", true, false, false, false, false},
      {"::ffff:169.254.9.9", true, false, false, false, true},
      {"fe80::1", false, false, false, false, true},
      {"febf::1", false, false, false, false, true},
      {"fec0::1", false, false, false, false, false},
      {"2001:db8::1", false, false, false, false, false},
  };
  for (const Row& row : rows) {
    const Address value = address(row.text);
    EXPECT_EQ(value.is_v4(), row.v4) << row.text;
    EXPECT_EQ(value.is_unspecified(), row.unspecified) << row.text;
    EXPECT_EQ(value.is_loopback(), row.loopback) << row.text;
    EXPECT_EQ(value.is_multicast(), row.multicast) << row.text;
    EXPECT_EQ(value.is_link_local(), row.link_local) << row.text;
  }
}

TEST(Endpoint, ReadsWhatItPrints) {
  for (const char* text :
       {"10.0.2.2:80", "[::1]:80", "[fe80::1%3]:443", "0.0.0.0:0", "[::]:65535"}) {
    const auto endpoint = parse_endpoint(text);
    ASSERT_TRUE(endpoint) << text;
    EXPECT_EQ(to_string(*endpoint), text);
  }
}

TEST(Endpoint, HasOneSpelling) {
  EXPECT_EQ(to_string(parse_endpoint("[::ffff:10.0.2.2]:80").value()), "10.0.2.2:80");
  EXPECT_EQ(to_string(parse_endpoint("[::1%4]:80").value()), "[::1]:80") << "no link, no scope";
}

TEST(Endpoint, RefusesWhatIsNone) {
  for (const char* text : {"",
                           ":",
                           "10.0.2.2",
                           "10.0.2.2:",
                           ":80",
                           "10.0.2.2:65536",
                           "10.0.2.2:-1",
                           "10.0.2.2:+1",
                           "::1:80",
                           "[::1]",
                           "[::1:80",
                           "::1]:80",
                           "[::1]80",
                           "[fe80::1%]:80",
                           "[fe80::1%eth0]:80",
                           "10.0.2.2%1:80",
                           "10.0.2.2:80 ",
                           "[]:80",
                           "example.org:80",
                           "[fe80::1%4294967296]:1"}) {
    EXPECT_FALSE(parse_endpoint(text)) << text;
  }
}

TEST(Endpoint, RefusalNamesTheTextAndTheForm) {
  EXPECT_EQ(to_string(parse_endpoint("x").error()),
            "endpoint: \"x\" is not ADDRESS:PORT or [ADDRESS]:PORT");
}

TEST(Cidr, PrintsCanonically) {
  struct Row {
    const char *text, *printed;
  };
  for (const Row& row : {Row{"10.0.0.0/8", "10.0.0.0/8"},
                         {"10.1.2.3/8", "10.0.0.0/8"},
                         {"10.1.2.3", "10.1.2.3/32"},
                         {"::ffff:10.1.2.3/104", "10.0.0.0/8"},
                         {"0.0.0.0/0", "0.0.0.0/0"},
                         {"::/0", "::/0"},
                         {"fd12::1/8", "fd00::/8"},
                         {"::1", "::1/128"},
                         {"172.31.255.1/12", "172.16.0.0/12"}}) {
    const auto cidr = Cidr::parse(row.text);
    ASSERT_TRUE(cidr) << row.text;
    EXPECT_EQ(to_string(*cidr), row.printed) << row.text;
    EXPECT_EQ(to_string(Cidr::parse(to_string(*cidr)).value()), row.printed) << row.text;
  }
}

TEST(Cidr, RefusesWhatIsNone) {
  for (const char* text : {"", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/8/8",
                           "10.0.0.0/-1", "[fd00::]/8", "10.0.0.0 /8", "10.0.0.0/255.0.0.0"}) {
    EXPECT_FALSE(Cidr::parse(text)) << text;
  }
}

TEST(Cidr, Contains) {
  struct Row {
    const char *block, *inside, *outside;
  };
  for (const Row& row : {Row{"10.0.0.0/8", "10.255.1.1", "11.0.0.0"},
                         {"10.0.0.0/8", "::ffff:10.0.0.1", "::10.0.0.1"},
                         {"10.0.2.0/23", "10.0.3.255", "10.0.4.0"},
                         {"10.1.2.3", "10.1.2.3", "10.1.2.2"},
                         {"fd00::/8", "fdff::1", "fc00::1"},
                         {"fd00::/9", "fd7f::1", "fd80::1"},
                         {"0.0.0.0/0", "203.0.113.1", "2001:db8::1"},
                         {"2000::/3", "2001:db8::1", "10.0.0.1"}}) {
    const Cidr cidr = Cidr::parse(row.block).value();
    EXPECT_TRUE(cidr.contains(address(row.inside))) << row.block << " " << row.inside;
    EXPECT_FALSE(cidr.contains(address(row.outside))) << row.block << " " << row.outside;
  }
}

TEST(Cidr, OfNoBitsHoldsBothFamilies) {
  EXPECT_TRUE(Cidr{}.contains(address("10.0.0.1")));
  EXPECT_TRUE(Cidr::parse("::/0").value().contains(address("2001:db8::1")));
  EXPECT_TRUE(Cidr::parse("::/0").value().contains(address("10.0.0.1")));
}

}  // namespace
}  // namespace sockhop::core
