// SPDX-License-Identifier: Apache-2.0
// The soft edge of a write set that the L1 holds: prefetchers, interrupts, the kernel and the stack take ways of its
// sets too, so that attempts abort before the cache is full. How many of a set's ways are taken is drawn for each
// attempt and set, Poisson-distributed with the model's mean (htm.taken_ways). The lines themselves are not simulated.
#pragma once

#include "shadow.hpp"

namespace txsync::sim {

struct thread_record;

void set_up_taken_ways() noexcept;

/// Whether the set of a line that the thread's attempt has just written is too small for all that attempts have written
/// there. The same attempt gets the same answer as long as nothing is added to the set.
bool set_is_too_small(const thread_record& thread, line_number line) noexcept;

}  // namespace txsync::sim
