#include "tests/unit/core/allocation_counter.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>

namespace {
std::atomic<long> allocations = 0;
}

// In a file of its own: where g++ 12 can inline the two it takes malloc and delete for a mismatch.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace sockhop::core {

long allocations_so_far() { return allocations; }

}  // namespace sockhop::core
