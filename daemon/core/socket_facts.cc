#include "core/socket_facts.h"

#include <netinet/in.h>
#include <sys/socket.h>

namespace sockhop::core {

bool SocketFacts::is_inet_tcp() const {
  return (family == AF_INET || family == AF_INET6) && type == SOCK_STREAM &&
         protocol == IPPROTO_TCP;
}

}  // namespace sockhop::core
