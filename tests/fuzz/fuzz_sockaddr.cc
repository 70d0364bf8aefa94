// Socket addresses: bytes that a container hands to connect() or bind().
#include <netinet/in.h>

#include <span>

#include "core/sockaddr.h"
#include "require.h"

using namespace sockhop::core;
using sockhop::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto parsed = parse_sockaddr(std::as_bytes(std::span(data, size)));
  const auto* name = std::get_if<InetName>(&parsed);
  if (name == nullptr) return 0;
  require(name->family == AF_INET || name->family == AF_INET6, "an inet name has an inet family");
  require(name->family == AF_INET6 || name->endpoint.address.is_v4(), "AF_INET holds IPv4");
  const auto again = parse_sockaddr(make_sockaddr(name->endpoint, name->family));
  const auto* second = std::get_if<InetName>(&again);
  require(second != nullptr && second->endpoint == name->endpoint,
          "bytes of an endpoint read back");
  return 0;
}
