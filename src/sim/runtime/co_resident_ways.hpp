// SPDX-License-Identifier: Apache-2.0
// The soft limit of a write set that the L1 holds. Prefetchers, interrupts, the kernel and the stack take ways of its
// sets, too, so attempts abort before the cache is full. How many ways of a set are taken is drawn for each attempt and
// set, Poisson-distributed with the model's mean (htm.taken_ways). The lines themselves are not simulated.
#pragma once

#include "attempts.hpp"
#include "shadow.hpp"

namespace txsync::sim {

void set_up_co_resident_ways() noexcept;

/// Whether the set of a line that the thread's attempt has just written is too small for everything that attempts have
/// written there. The same attempt gets the same answer as long as nothing is added to the set.
bool set_is_too_small(const thread_record& thread, line_number line) noexcept;

/// If lines are tracked in a table: how many of its entries the attempt takes.
std::size_t entries_of(const attempt& tx) noexcept;

/// How many lines fill what an attempt had no room in, and whose they are. It counts written lines. If a read line has
/// left a set of the L1, it counts read lines, too.
occupancy occupancy_at(thread_record& thread, line_number line, overflow_kind overflow) noexcept;

}  // namespace txsync::sim
