// One SOCK_SEQPACKET connection between two of our own processes: a packet is a message.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sys/scm_rights.h"

namespace sockhop::sys {

/// The longest message that either side accepts. Half of net.core.wmem_default's usual value, so
/// that a packet always fits the sender's buffer.
inline constexpr std::size_t kMaxMessage = 96 * 1024;

class MessageChannel {
 public:
  MessageChannel() = default;
  /// Owns a connected SOCK_SEQPACKET socket.
  explicit MessageChannel(UniqueFd socket) : socket_(std::move(socket)) {}

  /// Never waits: EAGAIN when the other side does not read, EMSGSIZE over kMaxMessage.
  Status send(std::string_view message, std::span<const FdRef> descriptors = {}) const;
  /// The next message, EAGAIN when there is none; `end` when the other side has gone. A message
  /// that lost bytes or descriptors is an error (EMSGSIZE).
  Result<Received> receive() const;

  [[nodiscard]] FdRef socket() const { return socket_; }
  [[nodiscard]] bool open() const { return socket_.valid(); }
  void close() { socket_.reset(); }
  /// Gives the socket away.
  [[nodiscard]] UniqueFd release() { return std::move(socket_); }

 private:
  UniqueFd socket_;
};

}  // namespace sockhop::sys
