// Carries what an application set on one socket over to another: one table, walked once.
//
// An option is set on the target only where the source differs from a fresh socket of the target's
// family, so an untouched socket costs reads only. Options that a host socket could not have (a
// filter, a mark, a routing device) are listed too: they make the socket stay.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "base/unique_fd.h"

namespace sockhop::sys {

enum class Carriage { both_ways, forth, back };

class OptionCarrier {
 public:
  /// Reads the defaults of fresh TCP sockets of this thread's network namespace.
  static Result<OptionCarrier> open();
  OptionCarrier(OptionCarrier&&) noexcept;
  OptionCarrier& operator=(OptionCarrier&&) noexcept;
  ~OptionCarrier();

  /// Makes `target` (fresh, of `family`) what `source` is. Error ENOPROTOOPT: the source has an
  /// option that cannot be carried; nothing may be assumed of the target then.
  [[nodiscard]] Status carry(FdRef source, FdRef target, int family) const;
  /// The way back, from a host socket of ours (whose leash is no option of the application's).
  [[nodiscard]] Status carry_back(FdRef source, FdRef target, int family) const;

 private:
  struct Defaults;
  [[nodiscard]] Status copy(FdRef source, FdRef target, int family, Carriage way) const;
  explicit OptionCarrier(std::unique_ptr<Defaults> defaults);
  std::unique_ptr<Defaults> defaults_;
};

/// One row of the table, for tests that walk it.
struct CarriedOption {
  int level;
  int name;
  std::size_t size;
  const char* text;
  Carriage carriage = Carriage::both_ways;
};
const CarriedOption* carried_options(std::size_t& count);

/// SO_REUSEADDR (bit 0) and SO_REUSEPORT (bit 1): a host socket gets them after its port was
/// chosen.
std::uint8_t reuse_of(FdRef socket);
void set_reuse(FdRef socket, std::uint8_t reuse);

}  // namespace sockhop::sys
