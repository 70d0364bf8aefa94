#include "engine/name_calls.h"

#include <sys/socket.h>

#include <array>
#include <cstring>
#include <span>

#include "core/sockaddr.h"
#include "engine/caller_memory.h"
#include "sys/interface_request.h"
#include "sys/socket_query.h"

namespace sockhop::engine {

using core::Reason;
using core::TcpState;

namespace {

constexpr std::uint64_t kNowhere = ~std::uint64_t{0};  // no caller has memory there

}  // namespace

std::variant<NameCalls::Borrowed, Outcome> NameCalls::borrow_host(ActiveCall& call,
                                                                  std::int32_t fd) {
  auto copy = call.tracee->borrow(fd);
  if (!copy) {
    return copy.error().code == EBADF ? fail(EBADF) : stay_inside(Reason::daemon_error);
  }
  // The cheapest question first: most sockets are not on the host.
  if (sys::netns_cookie(*copy) != shared_.cookies.host) return stay_inside(Reason::not_ours);
  auto facts = sys::query_socket(*copy, shared_.cookies);
  if (!facts || !facts->can_hop()) return stay_inside(Reason::not_ours);
  if (!facts->leashed()) return stay_inside(Reason::came_with_container);
  return Borrowed{std::move(*copy), *facts};
}

core::Endpoint NameCalls::shown_name(FdRef host, const core::SocketFacts& facts) {
  core::Endpoint shown = facts.local;
  shown.scope_id = 0;
  if (facts.is_inet_tcp()) {
    if (const auto port = core::container_port_of(ports_, facts.local)) shown.port = *port;
  }
  const auto peer = sys::peer_name(host);
  if (!peer) return shown;
  if (const auto source = shared_.paths.container_source(peer->address)) shown.address = *source;
  return shown;
}

Outcome NameCalls::on_getsockname(ActiveCall& call, const core::GetsocknameCall& asked) {
  if (shared_.policy.names_of_host) return stay_inside(Reason::not_ours);
  auto borrowed = borrow_host(call, asked.fd);
  if (auto* done = std::get_if<Outcome>(&borrowed)) return *done;
  const auto& [fd, facts] = std::get<Borrowed>(borrowed);
  const auto bytes = core::make_sockaddr(shown_name(fd, facts), facts.family);
  // Unlike accept's, a null pointer is written to, unless the length says that nothing is.
  const std::uint64_t place = asked.name != 0 ? asked.name : kNowhere;
  const auto written = write_name(call, place, asked.length_pointer, bytes);
  if (written) return Return{};
  return written.error().code == ESRCH ? Outcome{Gone{}} : fail(written.error().code);
}

Outcome NameCalls::on_getsockopt(ActiveCall& call, const core::GetsockoptCall& asked) {
  auto borrowed = borrow_host(call, asked.fd);
  if (auto* done = std::get_if<Outcome>(&borrowed)) return *done;
  std::array<std::byte, 4> raw{};
  if (!call.tracee->read(asked.length_pointer, raw)) return fail(EFAULT);
  std::int32_t room = 0;
  std::memcpy(&room, raw.data(), sizeof room);
  if (room < 0) return fail(EINVAL);
  // An unbound socket: an empty name, or index 0 (socket(7)).
  const bool by_index = asked.option == SO_BINDTOIFINDEX;
  const std::array<std::byte, 4> none{};
  const std::int32_t length = by_index ? std::min(room, 4) : 0;
  const auto shown = std::span(none).first(static_cast<std::size_t>(length));
  if (!shown.empty()) {
    if (const auto done = write_bytes(call, asked.value, shown); !done)
      return fail(done.error().code);
  }
  std::memcpy(raw.data(), &length, sizeof length);
  if (const auto done = write_bytes(call, asked.length_pointer, raw); !done) {
    return done.error().code == ESRCH ? Outcome{Gone{}} : fail(done.error().code);
  }
  return Return{};
}

Outcome NameCalls::on_ioctl(ActiveCall& call, const core::SocketIoctlCall& asked) {
  auto borrowed = borrow_host(call, asked.fd);
  if (auto* done = std::get_if<Outcome>(&borrowed)) return *done;
  const auto& [fd, facts] = std::get<Borrowed>(borrowed);
  const sys::SocketRequest request{asked.request, asked.narrow};
  const std::size_t size = sys::request_size(request);
  std::array<std::byte, sys::kMaxRequest> room{};
  const auto bytes = std::span(room).first(size);
  if (size > 0 && !call.tracee->read(asked.argument, bytes)) return fail(EFAULT);
  Result<sys::RequestAnswer> answer = Error{};
  if (sys::asks_the_socket(asked.request)) {
    answer = sys::ask_socket(fd, request, bytes);
  } else {
    const int family = facts.family;
    container_.run([&] { answer = sys::ask_interfaces(family, request, bytes); });
  }
  if (!answer) return fail(answer.error().code);
  if (!answer->list.empty()) {
    if (const auto done = write_bytes(call, answer->list_address, answer->list); !done) {
      return fail(done.error().code);
    }
  }
  if (const auto done = write_bytes(call, asked.argument, bytes); !done) {
    return done.error().code == ESRCH ? Outcome{Gone{}} : fail(done.error().code);
  }
  return Return{answer->value};
}

Outcome NameCalls::on_fastopen(ActiveCall& call, const core::FastOpenCall& asked) {
  auto borrowed = borrow_host(call, asked.fd);
  if (auto* done = std::get_if<Outcome>(&borrowed)) return *done;
  const auto& [fd, facts] = std::get<Borrowed>(borrowed);
  if (facts.is_inet_udp()) return stay_inside(Reason::not_ours);  // the flag means nothing to it
  // __inet_stream_connect: a fast open on a socket that is connecting or connected.
  if (facts.state == TcpState::syn_sent) return fail(EALREADY);
  if (facts.state != TcpState::close) return fail(EISCONN);
  if (!connects_.put_inside(call, asked.fd, fd, facts.family)) return fail(EBADF);
  return stay_inside(Reason::already_used);
}

Outcome NameCalls::on_bind(ActiveCall& call, const core::BindCall& asked) {
  auto borrowed = borrow_host(call, asked.fd);
  if (auto* done = std::get_if<Outcome>(&borrowed)) return *done;
  const auto& [fd, facts] = std::get<Borrowed>(borrowed);
  // The kernel looks at the name before it looks at the socket.
  std::array<std::byte, core::kMaxSockaddr> room{};
  const auto name = read_sockaddr(call, asked.name, room);
  if (!name) return fail(name.error().code);
  if (!call.still_waiting()) return Gone{};
  const auto parsed = core::parse_sockaddr(*name);
  const auto* inet = std::get_if<core::InetName>(&parsed);
  const bool foreign = inet == nullptr && !std::holds_alternative<core::TooShort>(parsed) &&
                       !std::holds_alternative<core::Disconnect>(parsed);
  if (facts.state != TcpState::close && foreign) return fail(EAFNOSUPPORT);
  return take_inside(call, asked.fd, fd, facts);
}

Outcome NameCalls::on_listen(ActiveCall& call, std::int32_t number) {
  auto borrowed = borrow_host(call, number);
  if (auto* done = std::get_if<Outcome>(&borrowed)) return *done;
  const auto& [fd, facts] = std::get<Borrowed>(borrowed);
  return take_inside(call, number, fd, facts);
}

Outcome NameCalls::take_inside(ActiveCall& call, std::int32_t number, FdRef fd,
                               const core::SocketFacts& facts) {
  // A socket with a port of its own, connected or on the way, cannot be bound or listen (bind(2)).
  if (facts.state != TcpState::close) return fail(EINVAL);
  if (!connects_.put_inside(call, number, fd, facts.family)) return fail(EBADF);
  return stay_inside(Reason::already_used);
}

}  // namespace sockhop::engine
