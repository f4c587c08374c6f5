// SPDX-License-Identifier: Apache-2.0
// The soft edge of a write set that the L1 holds: prefetchers, interrupts, the kernel and the stack take ways of its
// sets too, so that attempts abort before the cache is full. How many of a set's ways are taken is drawn for each
// attempt and set, Poisson-distributed with the model's mean (htm.taken_ways). The lines themselves are not simulated.
#pragma once

#include "attempts.hpp"
#include "shadow.hpp"

namespace txsync::sim {

void set_up_taken_ways() noexcept;

/// Whether the set of a line that the thread's attempt has just written is too small for all that attempts have written
/// there. The same attempt gets the same answer as long as nothing is added to the set.
bool set_is_too_small(const thread_record& thread, line_number line) noexcept;

/// Where lines are tracked in a table: how many entries of it the attempt takes.
std::size_t entries_of(const attempt& tx) noexcept;

/// Who has how many lines of what an attempt had no room in: written ones, and those read as well where one that was
/// read has left a set of the L1.
struct occupancy {
  lack of = lack::other;
  std::uint32_t set = 0;       ///< the L1's, where it is one
  std::uint32_t own = 0;       ///< of the attempt itself
  std::uint32_t siblings = 0;  ///< of attempts of its core's other hardware threads
  std::uint32_t room = 0;      ///< ways of the set, entries, or lines that can be read; 0: not known
};
occupancy occupancy_at(thread_record& thread, line_number line, lack of) noexcept;

}  // namespace txsync::sim
