// Calls back each time a descriptor that somebody else owns has something to read.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>

#include "base/unique_fd.h"

namespace sockhop::keeper {

/// The callback may destroy its own Watch. The descriptor must outlive the Watch.
class Watch {
 public:
  Watch(boost::asio::io_context& loop, FdRef descriptor, std::function<void()> on_readable);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  struct State;
  State* state_;  // owned by the handler that waits in the loop, which may outlive the Watch
};

}  // namespace sockhop::keeper
