#include "core/packet.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace sockhop::core {
namespace {

constexpr std::size_t kNameLength = 16;

// Where each field lies among the numbers, or among the names, and how long it is.
struct Place {
  std::size_t at;
  std::size_t length;
  bool name = false;
};

Place place_of(PacketField field) {
  switch (field) {
    case PacketField::protocol:
      return {0, 2};
    case PacketField::net_family:
      return {2, 1};
    case PacketField::l4_protocol:
      return {3, 1};
    case PacketField::in_index:
      return {4, 4};
    case PacketField::out_index:
      return {8, 4};
    case PacketField::mark:
      return {12, 4};
    case PacketField::ct_state:
      return {16, 4};
    case PacketField::ct_status:
      return {20, 4};
    case PacketField::source_type:
      return {24, 4};
    case PacketField::destination_type:
      return {28, 4};
    case PacketField::ct_direction:
      return {32, 1};
    case PacketField::in_name:
      return {0, kNameLength, true};
    case PacketField::out_name:
      return {kNameLength, kNameLength, true};
    case PacketField::unknown:
      return {0, 0};
  }
  return {0, 0};
}

std::array<std::uint8_t, 4> bytes_of(std::uint32_t value) {
  std::array<std::uint8_t, 4> bytes{};
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

}  // namespace

void Packet::put(PacketField field, std::span<const std::uint8_t> bytes) {
  const Place place = place_of(field);
  if (bytes.size() != place.length) return;
  (place.name ? names_ : numbers_).set(place.at, bytes);
}

void Packet::put(PacketField field, std::uint32_t value) { put(field, bytes_of(value)); }

void Packet::forget(PacketField field) {
  const Place place = place_of(field);
  (place.name ? names_ : numbers_).forget(place.at, place.length);
}

void Packet::put_zero_bits(PacketField field, std::uint32_t mask) {
  const Place place = place_of(field);
  if (place.length == sizeof mask) numbers_.set_bits(place.at, bytes_of(0), bytes_of(mask));
}

void Packet::put_name(PacketField field, std::string_view name) {
  std::array<std::uint8_t, kNameLength> bytes{};
  std::copy_n(name.begin(), std::min(name.size(), kNameLength - 1), bytes.begin());
  put(field, bytes);
}

void Packet::load(PacketField field, KnownBytes& registers, std::size_t at,
                  std::size_t length) const {
  const Place place = place_of(field);
  registers.forget(at, length);
  registers.copy(at, place.name ? names_ : numbers_, place.at, std::min(length, place.length));
}

void Packet::take(PacketField field, const KnownBytes& registers, std::size_t at) {
  const Place place = place_of(field);
  if (!place.name) numbers_.copy(place.at, registers, at, place.length);
}

Match Packet::is(PacketField field, std::uint32_t value) const {
  const Place place = place_of(field);
  return place.length == sizeof value ? numbers_.equals(place.at, bytes_of(value)) : Match::maybe;
}

}  // namespace sockhop::core
