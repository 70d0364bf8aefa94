#include "core/sockaddr.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace sockhop::core {
namespace {

std::vector<std::byte> bytes_of(const Endpoint& endpoint, int family) {
  return make_sockaddr(endpoint, family);
}

Endpoint endpoint(std::string_view text) { return parse_endpoint(text).value(); }

// "TooShort", "Disconnect", "family 1", or the endpoint with the family it was spelled in.
std::string told(std::span<const std::byte> bytes) {
  struct Tell {
    std::string operator()(const TooShort&) const { return "TooShort"; }
    std::string operator()(const Disconnect&) const { return "Disconnect"; }
    std::string operator()(const OtherFamily& other) const {
      return "family " + std::to_string(other.family);
    }
    std::string operator()(const InetName& name) const {
      return to_string(name.endpoint) + (name.family == AF_INET ? " inet" : " inet6");
    }
  };
  return std::visit(Tell{}, parse_sockaddr(bytes));
}

std::vector<std::byte> with_family(sa_family_t family, std::size_t length) {
  std::vector<std::byte> bytes(length);
  const auto name = std::as_bytes(std::span(&family, 1));
  std::ranges::copy(name.first(std::min(length, name.size())), bytes.begin());
  return bytes;
}

TEST(ParseSockaddr, ReadsBothFamilies) {
  EXPECT_EQ(told(bytes_of(endpoint("10.0.2.2:80"), AF_INET)), "10.0.2.2:80 inet");
  EXPECT_EQ(told(bytes_of(endpoint("[2001:db8::1]:443"), AF_INET6)), "[2001:db8::1]:443 inet6");
}

TEST(ParseSockaddr, GivesAMappedAddressTheValueOfIpv4) {
  const auto parsed = parse_sockaddr(bytes_of(endpoint("127.0.0.1:80"), AF_INET6));
  const auto& name = std::get<InetName>(parsed);
  EXPECT_EQ(name.family, AF_INET6);
  EXPECT_EQ(name.endpoint, endpoint("127.0.0.1:80"));
  EXPECT_TRUE(name.endpoint.address.is_loopback());
}

TEST(ParseSockaddr, AcceptsTheLengthsThatTheKernelAccepts) {
  struct Row {
    sa_family_t family;
    std::size_t length;
    const char* want;
  };
  const Row rows[] = {
      {AF_INET, 0, "TooShort"},        {AF_INET, 1, "TooShort"},
      {AF_INET, 2, "TooShort"},        {AF_INET, 15, "TooShort"},
      {AF_INET, 16, "0.0.0.0:0 inet"}, {AF_INET, 128, "0.0.0.0:0 inet"},
      {AF_INET6, 2, "TooShort"},       {AF_INET6, 23, "TooShort"},
      {AF_INET6, 24, "[::]:0 inet6"},  {AF_INET6, 27, "[::]:0 inet6"},
      {AF_INET6, 28, "[::]:0 inet6"},  {AF_UNSPEC, 2, "Disconnect"},
      {AF_UNSPEC, 16, "Disconnect"},   {AF_UNIX, 2, "family 1"},
      {AF_UNIX, 110, "family 1"},      {AF_NETLINK, 12, "family 16"},
      {0xffff, 2, "family 65535"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(told(with_family(row.family, row.length)), row.want)
        << "family " << row.family << " length " << row.length;
  }
}

TEST(ParseSockaddr, KeepsTheScopeOfLinkLocalAddressesOnly) {
  Endpoint local = endpoint("[fe80::1%3]:80");
  EXPECT_EQ(told(bytes_of(local, AF_INET6)), "[fe80::1%3]:80 inet6");
  Endpoint loopback = endpoint("[::1]:80");
  loopback.scope_id = 3;
  EXPECT_EQ(told(bytes_of(loopback, AF_INET6)), "[::1]:80 inet6");
  Endpoint mapped = endpoint("169.254.1.1:80");
  mapped.scope_id = 3;
  EXPECT_EQ(told(bytes_of(mapped, AF_INET6)), "169.254.1.1:80 inet6");
}

TEST(ParseSockaddr, TakesNoScopeFromAnAddressThatIsNotWhole) {
  auto bytes = bytes_of(endpoint("[fe80::1%16909060]:80"), AF_INET6);
  for (std::size_t length = 24; length < 28; ++length) {
    EXPECT_EQ(told(std::span(bytes).first(length)), "[fe80::1]:80 inet6") << length;
  }
}

TEST(MakeSockaddr, HasTheSizeOfTheFamily) {
  EXPECT_EQ(bytes_of(endpoint("10.0.2.2:80"), AF_INET).size(), sizeof(sockaddr_in));
  EXPECT_EQ(bytes_of(endpoint("10.0.2.2:80"), AF_INET6).size(), sizeof(sockaddr_in6));
}

TEST(MakeSockaddr, WritesNetworkOrder) {
  const auto bytes = bytes_of(endpoint("10.0.2.3:258"), AF_INET);
  const std::byte want[] = {std::byte{1}, std::byte{2}, std::byte{10},
                            std::byte{0}, std::byte{2}, std::byte{3}};
  EXPECT_TRUE(std::equal(std::begin(want), std::end(want), bytes.begin() + 2));
}

TEST(MakeSockaddr, ShowsIpv4MappedToAnIpv6Socket) {
  const auto bytes = bytes_of(endpoint("10.0.2.2:80"), AF_INET6);
  sockaddr_in6 name{};
  std::memcpy(&name, bytes.data(), bytes.size());
  EXPECT_TRUE(IN6_IS_ADDR_V4MAPPED(&name.sin6_addr));
  EXPECT_EQ(ntohs(name.sin6_port), 80);
}

}  // namespace
}  // namespace sockhop::core
