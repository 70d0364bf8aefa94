// Names a host endpoint in the table of kept descriptors (sys::Kept::endpoint).
#pragma once

#include <cstdint>

#include "core/port_table.h"

namespace sockhop::engine {

/// Two published ports that differ in address, port or protocol on the host get different keys but
/// for a collision of 64-bit hashes (FNV-1a).
inline std::uint64_t endpoint_key(const core::PublishedPort& port) {
  std::uint64_t key = 14695981039346656037ULL;
  const auto add = [&key](std::uint8_t byte) { key = (key ^ byte) * 1099511628211ULL; };
  for (const std::uint8_t byte : port.host.address.bytes) add(byte);
  add(static_cast<std::uint8_t>(port.host.port >> 8));
  add(static_cast<std::uint8_t>(port.host.port));
  add(port.protocol == core::Protocol::udp ? 17 : 6);
  return key;
}

}  // namespace sockhop::engine
