// SPDX-License-Identifier: Apache-2.0
// Orders of execution that no clock would produce: at each access, one of the threads that can run is chosen.
#pragma once

#include <cstdint>

#include "schedule.hpp"
#include "state.hpp"
#include "uniform_walk.hpp"

namespace txsync::sim {

/// Begins the next schedule and seeds its choices. The program is at the point where each of its schedules begins.
void begin_schedule(std::uint64_t seed) noexcept;

/// The same in that order for a schedule of a program that explores itself. It is expected to have so many choices.
void begin_own_schedule(schedule_order order, std::uint64_t seed, std::uint64_t expected) noexcept;
/// How many the schedule has had so far.
std::uint64_t choices_of_schedule() noexcept;

/// A program that is explored as a whole, in its own process, is one schedule, with the run's seed. Change points and
/// delays are drawn from `expected` choices.
void begin_only_schedule(std::uint64_t expected) noexcept;
/// Records the steps so far and, in orders that have change points or delays, the last schedule's choices. Of a program
/// also its choices in random order, and what a learning run has learnt.
void write_exploration() noexcept;

/// From the next schedule on, change points and delays are drawn from as many choices as this one has had, and a
/// quarter more. Few schedules are longer than that. Before the first call, they are drawn from a hundred.
void expect_such_schedules() noexcept;

/// The thread is on its hardware thread from now on, or no longer.
void takes_part(thread_record& thread) noexcept;
void takes_no_part(thread_record& thread) noexcept;

/// In the random order of tests the running thread goes on three times out of four, so that long runs of one thread
/// happen, too. The steps of a program are few (program_steps.hpp): there each thread is as likely as the others.
inline bool goes_on_at_random() noexcept {
  constexpr std::uint64_t stay_of = 4;
  return state.random.below(stay_of) != 0;
}

/// A thread of an explored program writes memory: it does not only wait.
void writes_in_program() noexcept;

/// A step of the running thread: others may run first. Requires: the running thread can run.
void step_to_chosen() noexcept;
inline void explored_step() noexcept {
  if (++state.steps > state.last_step) report_livelock();
  if (state.scheduling == schedule_order::random && !state.follows_program && goes_on_at_random()) return;
  step_to_chosen();
}

/// The same for an access that orders may ask for. Does not return if the access is in an attempt that is aborted before.
inline void explored_step_at(thread_record& thread, const byte_range& access, bool write) noexcept {
  thread.next_access = access;
  thread.next_writes = write;
  if (state.counts_uses) count_use(thread);
  explored_step();
  thread.next_access = {};
}

/// Returns the running thread or another one that can run; null if none can. Before that, stores may leave store
/// buffers and deadlines may come. Does not return if a store ends the running thread's attempt.
thread_record* choose_explored() noexcept;

/// A thread spins (pause, yield). Orders by priority put it behind all others; otherwise it would spin for ever.
void spun(thread_record& thread) noexcept;

/// Draws a thread's priorities, for orders by priority.
void draw_priorities(thread_record& thread) noexcept;

}  // namespace txsync::sim
