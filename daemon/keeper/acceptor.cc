#include "keeper/acceptor.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

#include "sys/unix_socket.h"

namespace sockhop::keeper {
namespace {

constexpr std::chrono::milliseconds kPause{100};

}  // namespace

Acceptor::Acceptor(boost::asio::io_context& loop, FdRef listener, std::string name,
                   std::function<void(UniqueFd)> on_connection)
    : loop_(loop),
      listener_(listener),
      name_(std::move(name)),
      on_connection_(std::move(on_connection)),
      timer_(loop) {
  listen();
}

void Acceptor::listen() {
  watch_ = std::make_unique<Watch>(loop_, listener_, [this] { accept(); });
}

void Acceptor::accept() {
  auto connection = sys::accept_unix(listener_);
  if (!connection) return pause(connection.error());
  said_ = false;
  if (*connection) on_connection_(std::move(*connection));
}

void Acceptor::pause(const Error& error) {
  if (!std::exchange(said_, true)) {
    spdlog::error("{}: {}; connections wait, raise the limit of open files (ulimit -n)", name_,
                  to_string(error));
  }
  watch_.reset();
  timer_.expires_after(kPause);
  timer_.async_wait([this](const boost::system::error_code& stopped) {
    if (!stopped) listen();
  });
}

}  // namespace sockhop::keeper
