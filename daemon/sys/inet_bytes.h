// Addresses as the kernel's binary interfaces carry them: 4 or 16 bytes in network order.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "core/endpoint.h"

namespace sockhop::sys {

/// Nothing when `bytes` is neither 4 nor 16 long.
std::optional<core::Address> address_of_bytes(std::span<const std::byte> bytes);
/// The four bytes of an IPv4 address. Precondition: address.is_v4().
std::span<const std::uint8_t> v4_bytes(const core::Address& address);

}  // namespace sockhop::sys
