// Counts what this test program takes from the heap through operator new.
#pragma once

namespace sockhop::core {

long allocations_so_far();

}  // namespace sockhop::core
