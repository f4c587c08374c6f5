// SPDX-License-Identifier: Apache-2.0
// Who runs next. In the order of virtual time it is the thread with the least time. The exploring orders choose among
// all threads that can run, at each access.
#pragma once

#include "fiber.hpp"

namespace txsync::sim {

/// Called before the first thread: makes a place for each hardware thread.
void set_up_schedule() noexcept;

/// Ends the simulation: no thread can run any more.
[[noreturn]] void report_deadlock() noexcept;
/// Ends the simulation: the run has taken more steps than it may.
[[noreturn]] void report_livelock() noexcept;

/// The running thread has reached its limit. Lets others run that are before it, takes timer interrupts, and gives its
/// hardware thread away if its time slice is over. May not return if the thread is in an attempt.
void reschedule() noexcept;

/// A scheduling point: another thread may run first (switching.hpp has it inline).
void scheduling_point() noexcept;
/// The same for a pause. It touches no memory, so the running thread may be somewhat ahead of the others.
void pausing_point() noexcept;
/// Like reschedule(), but neither the timer nor the time slice interrupts.
void switch_to_next() noexcept;

/// A system call of the running thread: it ends an attempt, is a scheduling point, and costs time.
thread_record& enter_kernel(std::uint64_t more_cycles) noexcept;

/// The running thread waits until wake() or, if `deadline` is not `never`, until then. Requires: no attempt.
void block(ticks deadline) noexcept;

/// Whether a blocked thread has a deadline. The second function lets the first of the deadlines come.
bool has_deadline() noexcept;
/// The thread with the first one waits for no longer than others may be kept from running. Requires: has_deadline().
bool next_deadline_is_short() noexcept;
/// `never` if there is none.
ticks next_deadline() noexcept;
void fire_deadline() noexcept;

/// `thread` no longer waits, from `at` on. No effect if it does not wait.
void wake(thread_record& thread, ticks at) noexcept;

/// Starts a prepared thread.
void launch(thread_record& thread, ticks at) noexcept;

/// The running thread has ended; does not return.
[[noreturn]] void retire() noexcept;

/// The running thread lets others on its hardware thread run first (sched_yield).
void give_way() noexcept;

/// The time of the thread on this hardware thread has changed (its attempt was aborted).
void time_changed(const thread_record& thread) noexcept;

/// Moves the running thread to another hardware thread.
void migrate(unsigned cpu) noexcept;

/// Runs another thread instead of the running one, until that one is chosen again.
void switch_to(thread_record& next) noexcept;

/// Leaves the running thread's stack for the scheduler's, which does what cannot be done on the thread's own.
void switch_to_scheduler(thread_record& self) noexcept;
/// The scheduler, on the OS thread's own stack: runs the threads until over() says that the program has ended.
void run_scheduler(bool (*over)()) noexcept;

/// Sets what the hooks read for the thread that is about to run.
void load_hot_state() noexcept;

inline void charge(thread_record& thread, std::uint64_t cycle_count) noexcept {
  thread.time += cycle_count * thread.cycle;
}

}  // namespace txsync::sim
