// Runs system calls in a child under a seccomp filter and tells which of them reached the listener.
#pragma once

#include <linux/filter.h>

#include <array>
#include <cstdint>
#include <vector>

namespace sockhop::test {

enum class Abi { x86_64, x32, i386 };

/// One call to make. Arguments of i386 are the low 32 bits.
struct Attempt {
  Abi abi = Abi::x86_64;
  long number = 0;
  std::array<std::uint64_t, 6> arguments{};
};

/// What the listener answers to each call it is shown: no kernel call returns it.
inline constexpr long kNotified = 0x50c4;

/// Makes the calls in order; gives what each returned (-errno on failure), kNotified for those the
/// filter notified. `filter` is installed with a listener that the parent serves. Empty when the
/// child could not install it or died.
std::vector<long> run_filtered(const std::vector<sock_filter>& filter,
                               const std::vector<Attempt>& attempts);

}  // namespace sockhop::test
