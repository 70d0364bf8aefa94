// Takes the connections of a listening socket, one at a time.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "keeper/watch.h"

namespace sockhop::keeper {

/// When the kernel has no descriptor or memory left for a connection, it stays in the queue of the
/// socket and is tried again after a pause: once said, never in a busy loop.
class Acceptor {
 public:
  /// `name` is for the log. The listener must outlive the Acceptor.
  Acceptor(boost::asio::io_context& loop, FdRef listener, std::string name,
           std::function<void(UniqueFd)> on_connection);

 private:
  void listen();
  void accept();
  void pause(const Error& error);

  boost::asio::io_context& loop_;
  FdRef listener_;
  std::string name_;
  std::function<void(UniqueFd)> on_connection_;
  std::unique_ptr<Watch> watch_;
  boost::asio::steady_timer timer_;
  bool said_ = false;
};

}  // namespace sockhop::keeper
