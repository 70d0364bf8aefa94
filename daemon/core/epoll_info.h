// Reads what /proc/PID/fdinfo/N says of an epoll set (proc(5)).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sockhop::core {

/// One watched file of an epoll set. A set's key is (file, number), so the number counts.
struct EpollRegistration {
  int number = -1;           // tfd: the descriptor it was added under
  std::uint32_t events = 0;  // EPOLLIN | EPOLLET | ...
  std::uint64_t data = 0;    // the application's own word
};

/// Lines that are not registrations are passed over.
std::vector<EpollRegistration> parse_epoll_info(std::string_view text);

/// The registration under `number`, or nothing. Stops at the first: a set holds several files under
/// one number only after a descriptor was closed and reused while a duplicate stayed open.
const EpollRegistration* find_number(const std::vector<EpollRegistration>& all, int number);

}  // namespace sockhop::core
