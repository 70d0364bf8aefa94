#include "core/known_bytes.h"

#include <algorithm>

namespace sockhop::core {
namespace {

bool fits(std::size_t at, std::size_t length) {
  return at <= KnownBytes::kSize && length <= KnownBytes::kSize - at;
}

}  // namespace

void KnownBytes::set(std::size_t at, View bytes) {
  if (!fits(at, bytes.size())) return;
  std::copy(bytes.begin(), bytes.end(), value_.begin() + static_cast<std::ptrdiff_t>(at));
  std::fill_n(known_.begin() + static_cast<std::ptrdiff_t>(at), bytes.size(), 0xff);
}

void KnownBytes::set_bits(std::size_t at, View bytes, View mask) {
  if (!fits(at, bytes.size()) || mask.size() != bytes.size()) return;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value_[at + i] = static_cast<std::uint8_t>((value_[at + i] & ~mask[i]) | (bytes[i] & mask[i]));
    known_[at + i] = static_cast<std::uint8_t>(known_[at + i] | mask[i]);
  }
}

void KnownBytes::forget(std::size_t at, std::size_t length) {
  if (at > kSize) return;
  const std::size_t end = std::min(kSize, at + std::min(length, kSize));
  for (; at < end; ++at) known_[at] = 0;
}

void KnownBytes::copy(std::size_t at, const KnownBytes& from, std::size_t from_at,
                      std::size_t length) {
  if (!fits(at, length)) return forget(at, length);
  for (std::size_t i = 0; i < length; ++i) {
    const bool there = from_at < kSize && i < kSize - from_at;
    value_[at + i] = there ? from.value_[from_at + i] : std::uint8_t{0};
    known_[at + i] = there ? from.known_[from_at + i] : std::uint8_t{0};
  }
}

void KnownBytes::combine(std::size_t at, std::size_t from_at, View mask, View flip) {
  if (!fits(at, mask.size()) || !fits(from_at, mask.size()) || flip.size() != mask.size()) {
    return forget(at, mask.size());
  }
  for (std::size_t i = 0; i < mask.size(); ++i) {
    const std::uint8_t value = value_[from_at + i];
    const std::uint8_t known = known_[from_at + i];
    value_[at + i] = static_cast<std::uint8_t>((value & mask[i]) ^ flip[i]);
    // A bit that the mask clears is known, whatever it was.
    known_[at + i] = static_cast<std::uint8_t>(known | ~mask[i]);
  }
}

Match KnownBytes::equals(std::size_t at, View bytes) const {
  if (!fits(at, bytes.size())) return Match::maybe;
  auto match = Match::yes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (((value_[at + i] ^ bytes[i]) & known_[at + i]) != 0) return Match::no;
    if (known_[at + i] != 0xff) match = Match::maybe;
  }
  return match;
}

int KnownBytes::order(std::size_t at, View bytes, bool most) const {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const int known = value_[at + i] & known_[at + i];
    const int value = most ? known | (0xff & ~known_[at + i]) : known;
    if (value != bytes[i]) return value - bytes[i];
  }
  return 0;
}

Match KnownBytes::less(std::size_t at, View bytes) const {
  if (!fits(at, bytes.size())) return Match::maybe;
  if (order(at, bytes, true) < 0) return Match::yes;
  return order(at, bytes, false) < 0 ? Match::maybe : Match::no;
}

Match KnownBytes::greater(std::size_t at, View bytes) const {
  if (!fits(at, bytes.size())) return Match::maybe;
  if (order(at, bytes, false) > 0) return Match::yes;
  return order(at, bytes, true) > 0 ? Match::maybe : Match::no;
}

Match KnownBytes::in(std::size_t at, const ByteRange& range) const {
  if (range.from == range.to) return equals(at, range.from);
  return std::min(!less(at, range.from), !greater(at, range.to));
}

}  // namespace sockhop::core
