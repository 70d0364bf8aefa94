// Bytes of which some bits are known and others are not: a packet that has not been sent yet, and
// the registers a rule computes with.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sockhop::core {

/// Does a rule go on? The order is that of certainty: `no` wins in a conjunction.
enum class Match { no, maybe, yes };

constexpr Match operator!(Match match) {
  if (match == Match::maybe) return match;
  return match == Match::yes ? Match::no : Match::yes;
}

/// What is known to lie between two values, both included, compared byte by byte.
struct ByteRange {
  std::vector<std::uint8_t> from;
  std::vector<std::uint8_t> to;
  bool operator==(const ByteRange&) const = default;
};

/// As many as the registers of nf_tables hold. Whatever is asked about bytes beyond is unknown.
class KnownBytes {
 public:
  static constexpr std::size_t kSize = 64;
  using View = std::span<const std::uint8_t>;

  void set(std::size_t at, View bytes);
  /// Only the bits that `mask` has, which is as long as `bytes`.
  void set_bits(std::size_t at, View bytes, View mask);
  void forget(std::size_t at, std::size_t length);
  /// Known as far as the other's are.
  void copy(std::size_t at, const KnownBytes& from, std::size_t from_at, std::size_t length);
  /// (bytes & mask) ^ flip, of bytes that lie `from_at` into the same registers.
  void combine(std::size_t at, std::size_t from_at, View mask, View flip);

  [[nodiscard]] Match equals(std::size_t at, View bytes) const;
  /// Is it less, as memcmp(3) compares? Bits that are not known may be 0 or 1.
  [[nodiscard]] Match less(std::size_t at, View bytes) const;
  [[nodiscard]] Match greater(std::size_t at, View bytes) const;
  [[nodiscard]] Match in(std::size_t at, const ByteRange& range) const;

 private:
  /// Of the least value that is possible, or (`most`) of the greatest.
  [[nodiscard]] int order(std::size_t at, View bytes, bool most) const;

  std::array<std::uint8_t, kSize> value_{};
  std::array<std::uint8_t, kSize> known_{};
};

}  // namespace sockhop::core
