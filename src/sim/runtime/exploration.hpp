// SPDX-License-Identifier: Apache-2.0
// Orders of execution that no clock would give: at each access one of the threads that can run is chosen.
#pragma once

#include <cstdint>

#include "schedule.hpp"
#include "state.hpp"

namespace txsync::sim {

/// The next schedule begins: seeds its choices. The program is where every schedule of it begins.
void begin_schedule(std::uint64_t seed) noexcept;

/// A program that is explored as a whole, in a process of its own, is one schedule, of the run's seed. Change points
/// and delays are drawn from so many choices.
void begin_only_schedule(std::uint64_t expected) noexcept;
/// Of the schedule so far, in orders that have change points or delays.
std::uint64_t choices_so_far() noexcept;

/// From the next schedule on, change points and delays are drawn from as many choices as this one has had, and a
/// quarter more: few schedules are longer than that. Before, from a hundred.
void expect_such_schedules() noexcept;

/// A thread is on its hardware thread from now on, or no longer.
void takes_part(thread_record& thread) noexcept;
void takes_no_part(thread_record& thread) noexcept;

/// In the random order the running thread goes on three times out of four, so that runs of one thread come about too.
inline bool goes_on_at_random() noexcept {
  constexpr std::uint64_t stay_of = 4;
  return state.random.below(stay_of) != 0;
}

/// A step of the running thread: others may come first. Requires: the running thread can run.
void step_to_chosen() noexcept;
inline void explored_step() noexcept {
  if (++state.steps > state.last_step) report_livelock();
  if (state.scheduling == order::random && goes_on_at_random()) return;
  step_to_chosen();
}

/// The running thread or another one that can run; null where none can. Before that, stores may leave store buffers and
/// deadlines may come. Does not return where a store ends the running thread's attempt.
thread_record* choose_explored() noexcept;

/// A thread spins (pause, yield): orders by priority put it behind all others, or nobody would free it.
void spun(thread_record& thread) noexcept;

/// For orders by priority.
void draw_priorities(thread_record& thread) noexcept;

}  // namespace txsync::sim
