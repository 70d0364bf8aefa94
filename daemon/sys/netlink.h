// A netlink socket that never waits: requests are answered in the call, events are drained.
//
// The socket belongs for its whole life to the network namespace of the thread that opened it, and
// can then be used from any thread (by one at a time).
#pragma once

#include <libmnl/libmnl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

namespace sockhop::sys {

/// Room for one request; libmnl writes headers and attributes into it.
struct NetlinkRequest {
  alignas(nlmsghdr) std::array<char, 512> bytes{};
  nlmsghdr* header = nullptr;

  NetlinkRequest(std::uint16_t type, std::uint16_t flags);
  /// Adds a zeroed family header (struct rtmsg, ifinfomsg, ...); valid as long as the request.
  template <class T>
  T* add_header() {
    return static_cast<T*>(mnl_nlmsg_put_extra_header(header, sizeof(T)));
  }
};

class NetlinkSocket {
 public:
  /// `protocol` is NETLINK_ROUTE, NETLINK_NETFILTER, ...
  static Result<NetlinkSocket> open(int protocol);

  /// Subscribes to a multicast group (its number, not its bit).
  Status join(std::uint32_t group);

  using OnMessage = std::function<void(const nlmsghdr&)>;
  /// Sends a request and gives every message of its answer to `on_message`. Errors: what the kernel
  /// answered; EAGAIN when the answer did not come, EINTR when a dump was inconsistent (ask again),
  /// E2BIG when it exceeds the bound (16 MiB).
  Status ask(NetlinkRequest& request, const OnMessage& on_message);

  enum class Drained { nothing, messages, overflow };
  /// Takes what is queued, up to 1024 datagrams; `overflow` means that the kernel dropped some, or
  /// that there are more. Costs one recv when silent.
  Drained drain(const OnMessage& on_message);
  /// The same, without looking at the messages.
  Drained discard();

  [[nodiscard]] FdRef fd() const { return fd_; }

 private:
  explicit NetlinkSocket(UniqueFd fd);
  Status read_answer(std::uint32_t sequence, const OnMessage& on_message);

  UniqueFd fd_;
  std::uint32_t sequence_ = 0;
};

/// The attributes of one message or nest, indexed by type; unknown types are ignored.
template <std::size_t N>
class NetlinkAttributes {
 public:
  /// Of a message whose family header is `header_length` bytes long.
  static NetlinkAttributes of_message(const nlmsghdr& message, std::size_t header_length) {
    const std::size_t padded = MNL_ALIGN(header_length);
    const std::size_t length = mnl_nlmsg_get_payload_len(&message);
    if (length < padded) return {};
    return NetlinkAttributes(mnl_nlmsg_get_payload_offset(&message, header_length),
                             length - padded);
  }
  static NetlinkAttributes of_nest(const nlattr* nest) {
    return NetlinkAttributes(mnl_attr_get_payload(nest), mnl_attr_get_payload_len(nest));
  }
  /// Null when absent or shorter than `least` bytes.
  [[nodiscard]] const nlattr* find(std::size_t type, std::size_t least = 0) const {
    const nlattr* attribute = type < N ? attributes_[type] : nullptr;
    return attribute != nullptr && mnl_attr_get_payload_len(attribute) >= least ? attribute
                                                                                : nullptr;
  }

 private:
  NetlinkAttributes() = default;
  NetlinkAttributes(const void* start, std::size_t length) {
    const auto* attribute = static_cast<const nlattr*>(start);
    const char* end = static_cast<const char*>(start) + length;
    for (; mnl_attr_ok(attribute, static_cast<int>(end - reinterpret_cast<const char*>(attribute)));
         attribute = mnl_attr_next(attribute)) {
      const auto type = mnl_attr_get_type(attribute);
      if (type < N) attributes_[type] = attribute;
    }
  }
  std::array<const nlattr*, N> attributes_{};
};

}  // namespace sockhop::sys
