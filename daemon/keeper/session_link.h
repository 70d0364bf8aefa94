// The keeper's end of the channel to one session: requests with replies, and news.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <span>

#include "base/result.h"
#include "keeper/watch.h"
#include "session.pb.h"
#include "sys/message_channel.h"

namespace sockhop::keeper {

class SessionLink {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using OnReply = std::function<void(const Result<internal::FromSession>&)>;

  /// A session that does not answer within this time has failed the request, nothing more.
  static constexpr std::chrono::seconds kPatience{2};
  /// Requests that may wait for one session at a time.
  static constexpr std::size_t kMaxRequests = 64;

  struct Events {
    std::function<void(const internal::FromSession&)> on_news;  // serial 0
    /// The other side is gone; may destroy the link.
    std::function<void()> on_gone;
  };

  SessionLink(boost::asio::io_context& loop, sys::MessageChannel channel, Events events);

  /// `on_reply` is called exactly once: with the answer, the session's failure, ETIMEDOUT, or EPIPE
  /// when the session ends; within this call when the message can't be sent.
  void ask(internal::ToSession request, std::span<const FdRef> descriptors, OnReply on_reply);
  /// Fails what waits with EPIPE and hears nothing more; for a link that is to be destroyed.
  void abandon();
  /// Gives up on what has waited too long.
  void expire(Time now);
  [[nodiscard]] std::optional<Time> next_deadline() const;

 private:
  struct Request {
    OnReply on_reply;
    Time deadline;
  };

  void read();
  void dispatch(const internal::FromSession& message);

  sys::MessageChannel channel_;
  Events events_;
  std::map<std::uint64_t, Request> requests_;
  std::uint64_t last_serial_ = 0;
  bool abandoned_ = false;
  Watch watch_;
};

}  // namespace sockhop::keeper
