// What is known of a packet that has not been sent yet.
#pragma once

#include <cstdint>
#include <span>

#include "core/known_bytes.h"
#include "core/rule_set.h"

namespace sockhop::core {

/// Fresh, nothing of it is known: the packet of any connection.
class Packet {
 public:
  KnownBytes network;    // header, from its first byte
  KnownBytes transport;  // header, from its first byte

  void put(PacketField field, std::span<const std::uint8_t> bytes);
  /// Of host order.
  void put(PacketField field, std::uint32_t value);
  void forget(PacketField field);
  /// `mask`: bits that are known to be zero.
  void put_zero_bits(PacketField field, std::uint32_t mask);
  /// A name as the kernel compares it: 16 bytes, zeros behind it.
  void put_name(PacketField field, std::string_view name);
  /// Bytes behind the field's own are unknown.
  void load(PacketField field, KnownBytes& registers, std::size_t at, std::size_t length) const;
  /// The value of a field that is four bytes long, known as far as the registers are.
  void take(PacketField field, const KnownBytes& registers, std::size_t at);
  [[nodiscard]] Match is(PacketField field, std::uint32_t value) const;

 private:
  KnownBytes numbers_;
  KnownBytes names_;
};

}  // namespace sockhop::core
