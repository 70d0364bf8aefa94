// A published port is free again as soon as its container is gone.
#include "sys/host_endpoint.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

#include "sys/host_listener.h"
#include "sys/host_socket.h"
#include "sys/socket_query.h"
#include "tests/support/network_namespace.h"

namespace sockhop::sys {
namespace {

/// One connection that the server closes first: it lies in TIME_WAIT on the server's port.
void serve_once(FdRef endpoint) {
  const auto name = local_name(endpoint);
  const UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_TRUE(listen_on(endpoint, 1));
  ASSERT_EQ(start_connect(client, *name, AF_INET).stage, ConnectStage::done);
  auto accepted = accept_from(endpoint, false);
  ASSERT_TRUE(accepted);
  let_port_be_bound(accepted->fd);
  accepted->fd.reset();
  char end;
  EXPECT_EQ(::recv(client.get(), &end, 1, 0), 0);
}

TEST(HostEndpoint, IsBoundAgainWhileAConnectionIsInTimeWait) {
  const tests::NetworkNamespace place;
  place.run([] {
    const auto port = core::parse_published_port("127.0.0.1:8080:80").value();
    {
      const auto endpoint = bind_host_endpoint(port);
      ASSERT_TRUE(endpoint);
      serve_once(*endpoint);
    }
    const auto again = bind_host_endpoint(port);
    ASSERT_TRUE(again);
    EXPECT_FALSE(listen_on(*again, 1)) << "listen() checks the port too: the case that is tested";
    EXPECT_TRUE(listen_at_endpoint(*again, 1));
    EXPECT_FALSE(bind_host_endpoint(port)) << "nobody else gets it";
  });
}

TEST(HostEndpoint, ListensInAnotherFamilyWhileSomebodyStillHoldsTheFirst) {
  const tests::NetworkNamespace place;
  place.run([] {
    const auto port = core::parse_published_port("127.0.0.1:8080:80").value();
    auto endpoint = bind_host_endpoint(port);
    ASSERT_TRUE(endpoint);
    // The keeper, which has sent it a moment ago.
    const UniqueFd held(::fcntl(endpoint->get(), F_DUPFD_CLOEXEC, 3));
    const auto beside = bind_beside(*endpoint, port.host, AF_INET6);
    ASSERT_TRUE(beside);
    endpoint->reset();
    const auto listens = listen_at_endpoint(*beside, 1);
    EXPECT_TRUE(listens) << to_string(listens.error());
    EXPECT_FALSE(bind_host_endpoint(port)) << "nobody else gets it";
  });
}

}  // namespace
}  // namespace sockhop::sys
