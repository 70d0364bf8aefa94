// Takes in the clients of sockhop.sock: accepts, asks the keeper, hands on.
//
// gRPC does not tell who a client is, so it never gets the listening socket itself.
#pragma once

#include <functional>
#include <thread>
#include <utility>

#include "base/unique_fd.h"
#include "control/keeper_client.h"

namespace sockhop::control {

class ClientDoor {
 public:
  /// `serve` gets each connection that the keeper admits, on the door's own thread.
  ClientDoor(UniqueFd listener, Keeper& keeper, std::function<void(UniqueFd)> serve);
  /// Ends the thread; clients that wait in the queue go on waiting.
  ~ClientDoor();
  ClientDoor(const ClientDoor&) = delete;
  ClientDoor& operator=(const ClientDoor&) = delete;

 private:
  void run();
  void take_in(UniqueFd connection);

  UniqueFd listener_;
  Keeper& keeper_;
  std::function<void(UniqueFd)> serve_;
  std::pair<UniqueFd, UniqueFd> stop_;  // the first end hangs up when the second is closed
  std::thread thread_;
};

}  // namespace sockhop::control
