#include "keeper/watch.h"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>
#include <utility>

namespace sockhop::keeper {

struct Watch::State {
  boost::asio::posix::stream_descriptor descriptor;
  std::function<void()> on_readable;
  bool stopped = false;

  static void wait(std::unique_ptr<State> state) {
    auto& descriptor = state->descriptor;
    descriptor.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                          [state = std::move(state)](const boost::system::error_code&) mutable {
                            if (!state->stopped) state->on_readable();
                            if (!state->stopped) wait(std::move(state));
                          });
  }
};

Watch::Watch(boost::asio::io_context& loop, FdRef descriptor, std::function<void()> on_readable) {
  auto state = std::make_unique<State>(
      State{boost::asio::posix::stream_descriptor(loop, descriptor.get()), std::move(on_readable)});
  state_ = state.get();
  State::wait(std::move(state));
}

Watch::~Watch() {
  state_->stopped = true;
  // The owner closes the descriptor; the handler is called once more and frees the state.
  state_->descriptor.release();
}

}  // namespace sockhop::keeper
