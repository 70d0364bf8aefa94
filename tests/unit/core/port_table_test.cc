#include "core/port_table.h"

#include <gtest/gtest.h>

namespace sockhop::core {
namespace {

Endpoint endpoint(std::string_view text) { return parse_endpoint(text).value(); }
PublishedPort port(std::string_view text) { return parse_published_port(text).value(); }

TEST(ParsePublishedPort, PrintsCanonically) {
  struct Row {
    const char *text, *printed;
  };
  for (const Row& row : {Row{"8080:80", "0.0.0.0:8080:80/tcp"},
                         {"8080:80/tcp", "0.0.0.0:8080:80/tcp"},
                         {"53:53/udp", "0.0.0.0:53:53/udp"},
                         {"127.0.0.1:8080:80", "127.0.0.1:8080:80/tcp"},
                         {"[::1]:8080:80", "[::1]:8080:80/tcp"},
                         {"[::]:8080:80/udp", "[::]:8080:80/udp"},
                         {"1:65535", "0.0.0.0:1:65535/tcp"}}) {
    const auto parsed = parse_published_port(row.text);
    ASSERT_TRUE(parsed) << row.text;
    EXPECT_EQ(to_string(*parsed), row.printed) << row.text;
    EXPECT_EQ(port(to_string(*parsed)), *parsed) << row.text;
  }
}

TEST(ParsePublishedPort, RefusesWhatIsNone) {
  for (const char* text : {"",
                           "80",
                           ":",
                           ":80",
                           "80:",
                           "0:80",
                           "80:0",
                           "65536:80",
                           "80:65536",
                           "a:80",
                           "80:b",
                           "80:80/",
                           "80:80/sctp",
                           "80:80/TCP",
                           "80:80/tcp/udp",
                           ":80:80",
                           "::1:80:80",
                           "[::1]80:80",
                           "[10.0.0.1]:80:80",
                           "10.0.0:80:80",
                           "10.0.0.1:80:80:80",
                           "localhost:80:80",
                           "80-81:80-81",
                           " 80:80",
                           "-1:80",
                           "[]:80:80"}) {
    EXPECT_FALSE(parse_published_port(text)) << text;
  }
}

TEST(ParsePublishedPort, RefusalSaysWhatToWrite) {
  const std::string message = to_string(parse_published_port("80").error());
  EXPECT_NE(message.find("[IP:]HOST:CONTAINER"), std::string::npos) << message;
}

TEST(ListenerServes, TheContainersAddressOrAllAddresses) {
  struct Row {
    const char *local, *published;
    bool serves;
  };
  for (const Row& row : {Row{"0.0.0.0:80", "8080:80", true},
                         {"[::]:80", "8080:80", true},
                         {"[::]:80", "[::]:8080:80", true},
                         {"0.0.0.0:80", "[::1]:8080:80", true},
                         {"10.0.2.100:80", "8080:80", true},
                         {"10.0.2.100:81", "8080:80", false},
                         {"0.0.0.0:8080", "8080:80", false},
                         {"127.0.0.1:80", "8080:80", false},
                         {"127.9.9.9:80", "8080:80", false},
                         {"[::1]:80", "8080:80", false},
                         {"[::ffff:127.0.0.1]:80", "8080:80", false}}) {
    EXPECT_EQ(listener_serves(endpoint(row.local), port(row.published)), row.serves)
        << row.local << " " << row.published;
  }
}

TEST(ContainerPortOf, GoesByPortAndAddressOfTheAcceptedSocket) {
  const std::vector<PublishedPort> ports = {port("127.0.0.1:80:8001"), port("10.0.0.1:80:8002"),
                                            port("443:8443"), port("[::]:444:8444"),
                                            port("53:5353/udp")};
  struct Row {
    const char* local;
    int want;
  };
  for (const Row& row : {Row{"127.0.0.1:80", 8001},
                         {"10.0.0.1:80", 8002},
                         {"[::ffff:10.0.0.1]:80", 8002},
                         {"10.0.0.2:80", 0},
                         {"10.0.0.2:443", 8443},
                         {"[fd00::1]:443", 8443},
                         {"[fd00::1]:444", 8444},
                         {"10.0.0.2:444", 8444},
                         {"10.0.0.2:53", 0},
                         {"10.0.0.2:1", 0}}) {
    EXPECT_EQ(container_port_of(ports, endpoint(row.local)).value_or(0), row.want) << row.local;
  }
}

}  // namespace
}  // namespace sockhop::core
