#include "engine/bell.h"

#include <sys/socket.h>

#include "sys/bell_socket.h"
#include "sys/host_socket.h"
#include "sys/socket_query.h"

namespace sockhop::engine {
namespace {

const core::Address kLoopbackV4 = core::Address::v4(127, 0, 0, 1);

core::Address loopback_v6() {
  core::Address address;
  address.bytes[15] = 1;
  return address;
}

}  // namespace

void Bell::find() {
  const FdRef kept = sys::kept_fd(memory_, sys::Kept::bell, key_);
  if (kept.get() < 0) return;
  const auto name = sys::local_name(kept);
  if (!name || name->port == 0) return drop();
  number_ = kept.get();
  name_ = *name;
  waiting_ = sys::tcp_state(kept) == core::TcpState::established ? 1 : 0;
}

Status Bell::make(const core::Endpoint& listener, bool v6_only) {
  const bool anywhere = listener.address.is_unspecified();
  const bool v4 = listener.address.is_v4();
  const core::Address from = !anywhere ? listener.address : v4 ? kLoopbackV4 : loopback_v6();
  Result<UniqueFd> socket = Error{};
  container_.run([&] {
    socket = sys::make_bell_socket(from, v4 ? AF_INET : AF_INET6);
    // A namespace whose loopback has no IPv6 reaches a dual stack listener by IPv4.
    if (!socket && anywhere && !v4 && !v6_only) {
      socket = sys::make_bell_socket(kLoopbackV4, AF_INET);
    }
  });
  if (!socket) return socket.error();
  const auto name = sys::local_name(*socket);
  if (!name) return name.error();
  const auto kept = sys::keep_fd(memory_, sys::Kept::bell, key_, std::move(*socket));
  if (!kept) return kept.error();
  number_ = kept->get();
  name_ = *name;
  return {};
}

Bell::Rung Bell::ring(const core::Endpoint& listener, bool v6_only) {
  if (number_ < 0 && !make(listener, v6_only)) return Rung::failed;
  const FdRef socket = FdRef::from_number(number_);
  // Frees it from what became of the last ring; the port stays.
  (void)sys::shut_down_association(socket);
  const int family = name_->address.is_v4() ? AF_INET : AF_INET6;
  const core::Endpoint target{name_->address, listener.port, 0};
  if (sys::start_connect(socket, target, family).stage == sys::ConnectStage::failed) {
    return Rung::failed;
  }
  ++waiting_;
  if (sys::send_byte(socket) != ECONNREFUSED) return Rung::yes;
  waiting_ = 0;
  return Rung::refused;
}

void Bell::taken_out() {
  if (waiting_ > 0) --waiting_;
  // The reset leaves no TIME_WAIT behind.
  if (waiting_ == 0 && number_ >= 0) (void)sys::shut_down_association(FdRef::from_number(number_));
}

void Bell::drop() {
  sys::drop_kept(memory_, sys::Kept::bell, key_);
  number_ = -1;
  name_.reset();
  waiting_ = 0;
}

}  // namespace sockhop::engine
