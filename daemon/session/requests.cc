#include "session/requests.h"

#include <unistd.h>

#include <utility>

#include "engine/endpoint_key.h"
#include "session/convert.h"
#include "session/kept_start.h"
#include "sys/engine_process.h"
#include "sys/messages/convert.h"
#include "sys/peer.h"
#include "sys/unix_socket.h"

namespace sockhop::session {
namespace {

namespace asio = boost::asio;

constexpr std::uint64_t kToKeeper = 0;
constexpr std::uint64_t kListener = 1;
constexpr std::uint64_t kAskedByNobody = ~std::uint64_t{0};

internal::FromSession failure_of(const Error& error) {
  internal::FromSession message;
  message.mutable_failure()->set_code(error.code);
  message.mutable_failure()->set_text(to_string(error));
  return message;
}

internal::FromSession reply_of(const Status& status) {
  if (!status) return failure_of(status.error());
  internal::FromSession message;
  message.set_ok(true);
  return message;
}

}  // namespace

Requests::Requests(asio::io_context& loop, sys::SessionMemory& memory, internal::Start start)
    : loop_(loop), memory_(memory), start_(std::move(start)) {}

Requests::~Requests() {
  // The numbers belong to the session memory.
  if (packets_) (void)packets_->release();
  if (keepers_) (void)keepers_->release();
}

FdRef Requests::channel() const { return sys::kept_fd(memory_, sys::Kept::channel, kToKeeper); }

void Requests::serve(engine::Session& session) {
  session_ = &session;
  if (memory_.start_serial != 0) {
    internal::FromSession message = reply_of({});
    message.set_serial(std::exchange(memory_.start_serial, 0));
    send(message);
    // The keeper does not know the container yet.
    if (start_.has_found()) tell_status();
  }
  serve_without_session();
}

void Requests::serve_without_session() {
  watch_channel();
  watch_listener();
}

void Requests::tell_failure(const Error& error) {
  if (memory_.start_serial == 0) return;
  auto message = failure_of(error);
  message.set_serial(memory_.start_serial);
  send(message);
}

void Requests::tell_ended() {
  internal::FromSession message;
  message.set_ended(true);
  send(message);
  loop_.stop();
}

void Requests::tell_status() {
  internal::FromSession message;
  *message.mutable_status() = status();
  send(message);
}

void Requests::send(const internal::FromSession& message) {
  if (channel().get() < 0) return;
  // A keeper that does not read, or has died, misses it; it asks again when it is back.
  (void)sys::send_with_descriptors(channel(), message.SerializeAsString(), {});
}

void Requests::watch_channel() {
  if (packets_) (void)packets_->release();
  packets_.reset();
  if (channel().get() < 0) return;
  packets_.emplace(loop_, channel().get());
  packets_->async_wait(asio::posix::stream_descriptor::wait_read,
                       [this](const boost::system::error_code& error) {
                         if (!error) on_packet();
                       });
}

void Requests::on_packet() {
  auto received = sys::receive_with_descriptors(channel(), sys::kMaxMessage);
  if (received && !received->end) {
    internal::ToSession request;
    if (!received->bytes_lost && request.ParseFromString(received->bytes)) {
      handle(request, std::move(received->descriptors));
    }
  } else if (received || received.error().code != EAGAIN) {
    (void)packets_->release();
    packets_.reset();
    sys::drop_kept(memory_, sys::Kept::channel, kToKeeper);
    return;
  }
  watch_channel();
}

void Requests::watch_listener() {
  if (!keepers_)
    keepers_.emplace(loop_, sys::kept_fd(memory_, sys::Kept::channel, kListener).get());
  keepers_->async_wait(asio::posix::stream_descriptor::wait_read,
                       [this](const boost::system::error_code& error) {
                         if (!error) on_keeper();
                       });
}

void Requests::on_keeper() {
  auto accepted = sys::accept_unix(sys::kept_fd(memory_, sys::Kept::channel, kListener));
  if (accepted && *accepted) {
    const auto peer = sys::peer_of(*accepted);
    if (peer && peer->uid == ::getuid() && sys::stands_in(peer->pid, memory_.home_userns)) {
      if (packets_) (void)packets_->release();
      packets_.reset();
      sys::drop_kept(memory_, sys::Kept::channel, kToKeeper);
      (void)sys::keep_fd(memory_, sys::Kept::channel, kToKeeper, std::move(*accepted));
      // Who asked for the start is gone, and its numbers are not this one's.
      if (memory_.start_serial != 0) memory_.start_serial = kAskedByNobody;
      tell_status();
      watch_channel();
    }
  }
  watch_listener();
}

void Requests::handle(internal::ToSession& request, std::vector<UniqueFd> descriptors) {
  if (request.has_stop()) {
    auto message = reply_of({});
    message.set_serial(request.serial());
    send(message);
    loop_.stop();
    return;
  }
  auto message = answer(request, std::move(descriptors));
  message.set_serial(request.serial());
  send(message);
}

internal::FromSession Requests::answer(internal::ToSession& request,
                                       std::vector<UniqueFd> descriptors) {
  using Body = internal::ToSession::BodyCase;
  internal::FromSession message;
  switch (request.body_case()) {
    case Body::kAddNotify:
      return reply_of(add_notify(std::move(descriptors)));
    case Body::kSetPorts:
      return reply_of(set_ports(request.set_ports(), std::move(descriptors)));
    case Body::kSetPolicy:
      return reply_of(set_policy(request.set_policy()));
    case Body::kAddUplinks:
      start_.mutable_uplinks()->MergeFrom(request.add_uplinks().uplinks());
      use_uplinks();
      return reply_of(keep_start(memory_, start_));
    case Body::kStatus:
      *message.mutable_status() = status();
      return message;
    case Body::kExplain: {
      const auto destination = internal::endpoint_of(request.explain());
      if (!destination) return failure_of(destination.error());
      if (!session_) {
        return failure_of(
            Error{EAGAIN, "explain", "the container is looked at when it first makes a call"});
      }
      *message.mutable_explanation() = explanation_of(session_->explain(*destination));
      return message;
    }
    case Body::kStart:
    case Body::kStop:
    case Body::BODY_NOT_SET:
      break;
  }
  return failure_of(Error{EPROTO, "request", "not one that a running session knows"});
}

Status Requests::add_notify(std::vector<UniqueFd> descriptors) {
  if (descriptors.size() != 1) return Error{EPROTO, "add_notify", "needs one descriptor"};
  std::uint64_t key = 0;
  for (const auto& kept : memory_.kept) {
    if (kept.kind == sys::Kept::notify && kept.key >= key) key = kept.key + 1;
  }
  const auto kept = sys::keep_fd(memory_, sys::Kept::notify, key, std::move(descriptors[0]));
  if (!kept) return kept.error();
  if (session_) session_->serve(key);
  return {};
}

Status Requests::set_ports(const internal::SetPorts& message, std::vector<UniqueFd> descriptors) {
  std::vector<core::PublishedPort> ports;
  std::vector<std::uint64_t> fresh;
  Status done;
  for (const auto& one : message.ports()) {
    const auto port = internal::port_of(one);
    if (!port) done = port.error();
    if (!done) break;
    ports.push_back(*port);
    const auto key = engine::endpoint_key(*port);
    if (sys::kept_fd(memory_, sys::Kept::endpoint, key).get() >= 0) continue;
    const std::size_t next = fresh.size();
    if (next >= descriptors.size()) done = Error{EPROTO, "set_ports", "a descriptor is missing"};
    if (!done) break;
    fresh.push_back(key);
    const auto kept = sys::keep_fd(memory_, sys::Kept::endpoint, key, std::move(descriptors[next]));
    if (!kept) done = kept.error();
    if (!done) break;
  }
  if (done && session_) done = session_->set_ports(std::move(ports));
  if (!done) {
    for (const auto key : fresh) sys::drop_kept(memory_, sys::Kept::endpoint, key);
    return done;
  }
  *start_.mutable_ports() = message.ports();
  return keep_start(memory_, start_);
}

Status Requests::set_policy(const internal::SetPolicy& message) {
  auto policy = internal::policy_of(message.policy());
  if (!policy) return policy.error();
  *start_.mutable_policy() = message.policy();
  start_.set_keeper_notes(message.keeper_notes());
  use_uplinks();
  if (session_) session_->set_policy(std::move(*policy));
  return keep_start(memory_, start_);
}

// Devices that the user vouches for are uplinks.
void Requests::use_uplinks() {
  auto start = start_of(start_);
  if (start && session_) session_->set_uplinks(std::move(start->uplinks));
}

internal::Status Requests::status() const {
  internal::Status status;
  status.set_container(start_.container());
  status.set_accelerate(start_.policy().accelerate());
  *status.mutable_policy() = start_.policy();
  status.set_keeper_notes(start_.keeper_notes());
  status.set_hops(memory_.hops);
  status.set_calls(memory_.calls);
  for (std::size_t i = 0; i < memory_.stays.size(); ++i) {
    if (memory_.stays[i] == 0) continue;
    auto* count = status.add_stays();
    count->set_name(std::string(core::name_of(static_cast<core::Reason>(i))));
    count->set_value(memory_.stays[i]);
  }
  if (start_.has_found()) *status.mutable_found() = start_.found();
  status.set_engine_restarts(memory_.engine_restarts);
  if (!session_) {
    for (const auto& port : start_.ports()) *status.add_ports()->mutable_port() = port;
    status.set_guard_pid(::getpid());
    return status;
  }
  for (const auto& state : session_->ports()) {
    auto* one = status.add_ports();
    internal::fill(*one->mutable_port(), state.port);
    one->set_listening(state.listening);
    one->set_problem(state.problem);
    one->set_injected(state.injected);
    one->set_relayed(state.relayed);
  }
  status.set_notify_fds(session_->notify_count());
  status.set_guard_pid(::getppid());
  status.set_engine_pid(::getpid());
  return status;
}

}  // namespace sockhop::session
