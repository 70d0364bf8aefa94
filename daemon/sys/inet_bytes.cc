#include "sys/inet_bytes.h"

#include <cstring>

namespace sockhop::sys {
namespace {
constexpr std::size_t kMappedPrefix = 12;
}

std::optional<core::Address> address_of_bytes(std::span<const std::byte> bytes) {
  core::Address address;
  if (bytes.size() == 4) {
    address = core::Address::v4(0, 0, 0, 0);
    std::memcpy(address.bytes.data() + kMappedPrefix, bytes.data(), bytes.size());
    return address;
  }
  if (bytes.size() != address.bytes.size()) return std::nullopt;
  std::memcpy(address.bytes.data(), bytes.data(), bytes.size());
  return address;
}

std::span<const std::uint8_t> v4_bytes(const core::Address& address) {
  return std::span(address.bytes).subspan(kMappedPrefix);
}

}  // namespace sockhop::sys
