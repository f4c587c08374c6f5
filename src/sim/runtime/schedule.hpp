// SPDX-License-Identifier: Apache-2.0
// Who runs next. In virtual-time order the thread with the least time does; the exploring orders choose among all that
// can run, at each access.
#pragma once

#include "fiber.hpp"

namespace txsync::sim {

/// Before the first thread: a place for each hardware thread.
void set_up_schedule() noexcept;

/// More steps than a run may have.
[[noreturn]] void report_livelock() noexcept;

/// The running thread has come to its limit: lets others run that are before it, takes timer interrupts, and gives its
/// hardware thread away when its time slice is over. May not return when the thread is in an attempt.
void reschedule() noexcept;

/// A place where another thread may come first (switching.hpp has it inline).
void scheduling_point() noexcept;
/// The same for a pause, which touches no memory: the running thread may be somewhat ahead of the others.
void pausing_point() noexcept;
/// As reschedule(), where neither the timer nor the time slice interrupts.
void switch_to_next() noexcept;

/// A system call of the running thread: not inside an attempt, a place where others may run, and at its price.
thread_record& enter_kernel(std::uint64_t more_cycles) noexcept;

/// The running thread waits until wake() or, where `deadline` is not never, until then. Requires: no attempt.
void block(ticks deadline) noexcept;

/// Whether a blocked thread has one, and letting the first of them come.
bool has_deadline() noexcept;
void fire_deadline() noexcept;

/// `thread` no longer waits, from `at` on. Nothing where it does not wait.
void wake(thread_record& thread, ticks at) noexcept;

/// A prepared thread begins.
void launch(thread_record& thread, ticks at) noexcept;

/// The running thread is over; does not return.
[[noreturn]] void retire() noexcept;

/// The running thread lets others on its hardware thread come first (sched_yield).
void give_way() noexcept;

/// The thread on this hardware thread has another time than before (an attempt of its was aborted).
void time_changed(const thread_record& thread) noexcept;

/// Moves the running thread to another hardware thread.
void migrate(unsigned cpu) noexcept;

/// Another thread runs instead of the running one, until it is chosen again.
void switch_to(thread_record& next) noexcept;

/// Leaves the running thread's stack for the scheduler's, which does what cannot be done on the thread's own.
void switch_to_scheduler(thread_record& self) noexcept;
/// The scheduler, on the OS thread's own stack: runs the threads until over() says that the program is.
void run_scheduler(bool (*over)()) noexcept;

/// Sets what the hooks look at for the thread that is about to run.
void load_hot_state() noexcept;

inline void charge(thread_record& thread, std::uint64_t cycle_count) noexcept {
  thread.time += cycle_count * thread.cycle;
}

}  // namespace txsync::sim
