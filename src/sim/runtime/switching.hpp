// SPDX-License-Identifier: Apache-2.0
// The way from one thread to the next in the order of time, inline. If threads take turns at nearly every access, this
// is most of the simulation's work. Each further function on the way has a return that the CPU mispredicts, because it
// remembers where the former thread would have returned to. Most of what remains is set_fs_base(): on some CPUs (AMD
// Zen 4) it takes 15 ns and waits for everything before it.
#pragma once

#include "schedule.hpp"
#include "state.hpp"
#include "tournament.hpp"

namespace txsync::sim {

struct threads_by_time {
  tournament threads;            ///< hardware threads by the time of what runs on them
  thread_record** at = nullptr;  ///< what runs there, by place
  ticks next_deadline = never;   ///< of a waiting thread
};
extern constinit threads_by_time by_time;

/// Sets what the hooks read for the thread that is about to run, except the limits.
[[gnu::always_inline]] inline void load_thread(const thread_record& thread, hardware_thread& cpu) noexcept {
  if (thread.tx.depth == 0) {
    state.filter = &cpu.plain;
  } else {
    state.filter = thread.tx.suspended ? nullptr : &cpu.in_attempt;  // suspended: its writes may hit its own attempt
  }
  state.logs_writes = thread.tx.depth != 0;
  state.access_cost = state.model.core_access * thread.cycle;
}

[[gnu::always_inline]] inline void load_limits(const hardware_thread& cpu, ticks next_thread) noexcept {
  ticks limit = next_thread < by_time.next_deadline ? next_thread : by_time.next_deadline;
  if (cpu.interruption < limit) limit = cpu.interruption;
  state.limit = limit;
  state.hit_limit = limit;
  if (state.slack == 0) return;
  const ticks late = limit > never - state.slack ? never : limit + state.slack;
  const ticks timer = cpu.next_timer > limit ? cpu.next_timer : limit;
  state.hit_limit = late < timer ? late : timer;
}

/// The running thread has reached its limit.
[[gnu::always_inline]] inline void let_first_run() noexcept {
  thread_record& thread = *state.current;
  hardware_thread& cpu = cpu_of(thread);
  if (!state.by_time_alone || thread.time >= cpu.interruption || thread.time >= by_time.next_deadline) {
    return reschedule();
  }
  ++state.steps;
  const tournament::comparison seen = by_time.threads.set_and_compare(cpu.place(), thread.time);
  if (seen.is_first) return load_limits(cpu, seen.rival_time);
  thread_record& next = *by_time.at[seen.first_rival];
  if (thread.tx.elided_count + next.tx.elided_count != 0 || seen.rival_time >= by_time.next_deadline) {
    return switch_to_next();
  }
  ++state.switches;
  set_current(&next);
  hardware_thread& next_cpu = cpu_of(next);
  load_thread(next, next_cpu);
  load_limits(next_cpu, by_time.threads.first_except(seen.first_rival));
  set_fs_base(next.thread_pointer);
  txsync_sim_switch(&thread.stack_pointer, next.stack_pointer, next.resume_value);
}

}  // namespace txsync::sim
