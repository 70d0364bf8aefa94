#include "core/socket_facts.h"

#include <netinet/in.h>
#include <sys/socket.h>

namespace sockhop::core {

namespace {

bool is_inet_stream(const SocketFacts& facts) {
  return (facts.family == AF_INET || facts.family == AF_INET6) && facts.type == SOCK_STREAM;
}

}  // namespace

bool SocketFacts::is_inet_tcp() const { return is_inet_stream(*this) && protocol == IPPROTO_TCP; }

bool SocketFacts::is_multipath() const {
  return is_inet_stream(*this) && protocol == IPPROTO_MPTCP;
}

bool SocketFacts::is_inet_udp() const {
  return (family == AF_INET || family == AF_INET6) && type == SOCK_DGRAM && protocol == IPPROTO_UDP;
}

}  // namespace sockhop::core
