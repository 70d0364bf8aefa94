#include "keeper/session_link.h"

#include <utility>

namespace sockhop::keeper {

SessionLink::SessionLink(boost::asio::io_context& loop, sys::MessageChannel channel, Events events)
    : channel_(std::move(channel)),
      events_(std::move(events)),
      watch_(loop, channel_.socket(), [this] { read(); }) {}

void SessionLink::ask(internal::ToSession request, std::span<const FdRef> descriptors,
                      OnReply on_reply) {
  if (requests_.size() >= kMaxRequests) {
    on_reply(Error{EBUSY, "session", "does not answer; 64 requests wait for it"});
    return;
  }
  request.set_serial(++last_serial_);
  if (auto sent = channel_.send(request.SerializeAsString(), descriptors); !sent) {
    on_reply(sent.error());
    return;
  }
  requests_[request.serial()] = {std::move(on_reply), std::chrono::steady_clock::now() + kPatience};
}

void SessionLink::expire(Time now) {
  while (!requests_.empty() && requests_.begin()->second.deadline <= now) {
    auto late = requests_.extract(requests_.begin());
    late.mapped().on_reply(Error{ETIMEDOUT, "session", "did not answer within 2 s"});
  }
}

std::optional<SessionLink::Time> SessionLink::next_deadline() const {
  // Serials grow with time, so the first request is the oldest one.
  if (requests_.empty()) return std::nullopt;
  return requests_.begin()->second.deadline;
}

void SessionLink::read() {
  if (abandoned_) return;
  auto received = channel_.receive();
  if (!received && received.error().code == EAGAIN) return;
  internal::FromSession message;
  if (!received || received->end || !message.ParseFromString(received->bytes)) {
    abandon();
    events_.on_gone();
    return;
  }
  dispatch(message);
}

void SessionLink::dispatch(const internal::FromSession& message) {
  if (message.serial() == 0) {
    events_.on_news(message);
    return;
  }
  auto answered = requests_.extract(message.serial());
  if (answered.empty()) return;  // it came too late
  const auto& on_reply = answered.mapped().on_reply;
  if (message.has_failure()) {
    on_reply(Error{message.failure().code(), "session", message.failure().text()});
  } else {
    on_reply(message);
  }
}

void SessionLink::abandon() {
  abandoned_ = true;
  const auto requests = std::exchange(requests_, {});
  const Error error{EPIPE, "session", "has ended"};
  for (const auto& [serial, request] : requests) request.on_reply(error);
}

}  // namespace sockhop::keeper
