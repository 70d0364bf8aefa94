#include "sys/message_channel.h"

namespace sockhop::sys {

Status MessageChannel::send(std::string_view message, std::span<const FdRef> descriptors) const {
  if (message.size() > kMaxMessage) return Error{EMSGSIZE, "message", "longer than 96 KiB"};
  return send_with_descriptors(socket_, message, descriptors);
}

Result<Received> MessageChannel::receive() const {
  auto received = receive_with_descriptors(socket_, kMaxMessage);
  if (received && (received->bytes_lost || received->descriptors_lost)) {
    return Error{EMSGSIZE, "message", "came incomplete"};
  }
  return received;
}

}  // namespace sockhop::sys
