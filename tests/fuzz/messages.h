// The input of a fuzzer as netlink messages: whatever their headers say, they lie within the input.
#pragma once

#include <libmnl/libmnl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace sockhop::fuzz {

template <class Visit>
void for_each_message(const unsigned char* data, std::size_t size, const Visit& visit) {
  std::vector<unsigned char> room;
  while (size >= sizeof(nlmsghdr)) {
    nlmsghdr header{};
    std::memcpy(&header, data, sizeof header);
    // The kernel's own messages are as long as they say; a shorter input ends with its last one.
    std::size_t length = header.nlmsg_len;
    if (length < sizeof header || length > size) length = size;
    header.nlmsg_len = static_cast<std::uint32_t>(length);
    // A copy of exactly this size, so that reading beyond it is seen.
    room.assign(data, data + length);
    std::memcpy(room.data(), &header, sizeof header);
    visit(*reinterpret_cast<const nlmsghdr*>(room.data()));
    const std::size_t step = std::min(size, (length + 3) / 4 * 4);
    data += step;
    size -= step;
  }
}

}  // namespace sockhop::fuzz
