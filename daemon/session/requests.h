// What the keeper asks of a session, one packet at a time, and what it is told.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <optional>

#include "engine/session.h"
#include "session.pb.h"
#include "sys/message_channel.h"

namespace sockhop::session {

class Requests {
 public:
  Requests(boost::asio::io_context& loop, sys::SessionMemory& memory, internal::Start start);
  ~Requests();

  /// Answers the Start that this session began with, then serves requests.
  void serve(engine::Session& session);
  /// The same in a guard that has no engine yet: what is asked is noted in the session's memory,
  /// and explain fails.
  void serve_without_session();
  void tell_failure(const Error& error);
  /// Tells that the container is gone and stops the loop.
  void tell_ended();

 private:
  void watch_channel();
  void watch_listener();
  void on_packet();
  void on_keeper();
  void handle(internal::ToSession& request, std::vector<UniqueFd> descriptors);
  internal::FromSession answer(internal::ToSession& request, std::vector<UniqueFd> descriptors);
  Status add_notify(std::vector<UniqueFd> descriptors);
  Status set_ports(const internal::SetPorts& message, std::vector<UniqueFd> descriptors);
  Status set_policy(const internal::SetPolicy& message);
  void use_uplinks();
  internal::Status status() const;
  void tell_status();
  void send(const internal::FromSession& message);
  [[nodiscard]] FdRef channel() const;

  boost::asio::io_context& loop_;
  sys::SessionMemory& memory_;
  internal::Start start_;
  engine::Session* session_ = nullptr;  // none in a guard
  std::optional<boost::asio::posix::stream_descriptor> packets_;
  std::optional<boost::asio::posix::stream_descriptor> keepers_;
};

}  // namespace sockhop::session
