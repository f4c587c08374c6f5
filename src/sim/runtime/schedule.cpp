// SPDX-License-Identifier: Apache-2.0
#include "schedule.hpp"

#include "attempts.hpp"
#include "call_chain.hpp"
#include "elision.hpp"
#include "exploration.hpp"
#include "failure.hpp"
#include "held_locks.hpp"
#include "oracle.hpp"
#include "program_steps.hpp"
#include "state.hpp"
#include "store_buffer.hpp"
#include "switching.hpp"
#include "systematic.hpp"
#include "waiters.hpp"

namespace txsync::sim {

constinit threads_by_time by_time;

namespace {

constinit waiters_by_deadline sleepers;
constinit std::uintptr_t scheduler_stack = 0;
constinit std::uintptr_t scheduler_fs = 0;

// A thread that only pauses does nothing that others could see. But it must let them reach what it waits for.
constexpr ticks max_pause = 4096 * ticks_per_cycle;

void set_place(hardware_thread& cpu) noexcept {
  if (exploring()) return;  // there, time gives no order
  // Only hardware threads that are used take part, so that a few threads on a large machine are not slow.
  if (cpu.place_plus_one == 0) cpu.place_plus_one = static_cast<std::uint16_t>(by_time.threads.add() + 1);
  by_time.at[cpu.place()] = cpu.running;
  by_time.threads.set(cpu.place(), cpu.running != nullptr ? cpu.running->time : never);
}

void set_interruption(hardware_thread& cpu) noexcept {
  cpu.interruption = cpu.next_timer;
  if (cpu.ready_first != nullptr && cpu.slice_end < cpu.interruption) cpu.interruption = cpu.slice_end;
  if (state.time_limit < cpu.interruption) cpu.interruption = state.time_limit;
}

// ---- the speed of a core's hardware threads

constinit unsigned* running_on = nullptr;  // by core
constinit ticks* rates = nullptr;          // the length of a cycle, by how many run on the core

ticks rate_for(unsigned running) noexcept {
  const machine_model& model = state.model;
  const std::uint32_t shares[] = {model.smt_share_1, model.smt_share_2, model.smt_share_4, model.smt_share_8};
  std::uint32_t share = shares[0];
  for (unsigned step = 0, threads = 1; step < 3 && running > threads; ++step, threads *= 2) {
    const std::uint32_t next = shares[step + 1] != 0 ? shares[step + 1] : share;
    const unsigned above = running < 2 * threads ? running - threads : threads;
    share = share - (share - next) * above / threads;
  }
  return ticks_per_cycle * 100 / (share != 0 ? share : 100);
}

void count_running(const hardware_thread& cpu, int change) noexcept {
  running_on[cpu.core] = static_cast<unsigned>(static_cast<int>(running_on[cpu.core]) + change);
  const ticks rate = rates[running_on[cpu.core]];
  hardware_thread* first = state.cpus + std::size_t{cpu.core} * state.model.core_threads;
  for (unsigned lane = 0; lane < state.model.core_threads; ++lane) {
    if (first[lane].running != nullptr) first[lane].running->cycle = rate;
  }
}

// ---- who is on which hardware thread

void take_into_use(hardware_thread& cpu) noexcept {
  core_caches& core = state.memory.cores[cpu.core];
  unsigned lane = core.used_count++;
  for (; lane != 0 && core.used[lane - 1]->number > cpu.number; --lane) core.used[lane] = core.used[lane - 1];
  core.used[lane] = &cpu;
  cpu.was_used = true;
}

void put_on(hardware_thread& cpu, thread_record& thread) noexcept {
  if (thread.time < cpu.free_since) thread.time = cpu.free_since;
  thread.state = thread_state::running;
  if (!cpu.was_used) take_into_use(cpu);
  cpu.running = &thread;
  if (exploring()) takes_part(thread);
  cpu.slice_end = thread.time + cycles(std::uint64_t{state.model.os_time_slice_us} * state.model.core_mhz);
  set_interruption(cpu);
  count_running(cpu, +1);
  set_place(cpu);
}

void enqueue(hardware_thread& cpu, thread_record& thread) noexcept {
  thread.state = thread_state::ready;
  thread.next = nullptr;
  (cpu.ready_last != nullptr ? cpu.ready_last->next : cpu.ready_first) = &thread;
  cpu.ready_last = &thread;
  set_interruption(cpu);
}

/// The running thread leaves; the next in the queue comes after the cost of a switch.
void take_off(hardware_thread& cpu) noexcept {
  thread_record& leaving = *cpu.running;
  cpu.running = nullptr;
  if (exploring()) takes_no_part(leaving);
  count_running(cpu, -1);
  cpu.free_since = leaving.time;
  if (thread_record* next = cpu.ready_first; next != nullptr) {
    cpu.ready_first = next->next;
    if (cpu.ready_first == nullptr) cpu.ready_last = nullptr;
    cpu.free_since += cycles(state.model.os_sleep);
    put_on(cpu, *next);
  }
  set_place(cpu);
}

void make_runnable(thread_record& thread, ticks at) noexcept {
  makes_runnable_in_segment(thread);
  if (thread.time < at) thread.time = at;
  hardware_thread& cpu = cpu_of(thread);
  if (cpu.running == nullptr) {
    put_on(cpu, thread);
  } else {
    enqueue(cpu, thread);
  }
  // The thread that runs now may have to let it run first.
  if (state.current != nullptr) load_hot_state();
}

/// A run of the systematic order follows from its number.
void add_seed(line_text& line) noexcept {
  if (state.scheduling != schedule_order::systematic) line << " (seed " << present_seed() << ")";
}

// ---- choosing

[[noreturn]] void report_limit() noexcept {
  line_text line;
  line << "not over after " << state.time_limit / ticks_per_cycle / state.model.core_mhz << " us of simulated time:";
  add_places(line, [](const thread_record& thread) { return thread.state != thread_state::ended; });
  fail(line);
}

void refuse_times_beyond_all() noexcept {
  for (unsigned i = 0; i < state.cpu_count; ++i) {
    if (state.cpus[i].running == nullptr) continue;
    line_text line;
    line << "simulated time is over: it goes up to " << tournament::latest / ticks_per_cycle << " cycles";
    fail(line);
  }
}

thread_record& choose_by_time() noexcept {
  for (;;) {
    const ticks first = by_time.threads.first_time();
    if (by_time.next_deadline > first) return *by_time.at[by_time.threads.first()];
    if (by_time.next_deadline == never) {
      refuse_times_beyond_all();
      report_deadlock();
    }
    fire_deadline();
  }
}

thread_record& choose() noexcept {
  if (!exploring()) return choose_by_time();
  thread_record* chosen = choose_explored();
  if (chosen == nullptr) report_deadlock();
  return *chosen;
}

void continue_with(std::uintptr_t* save, thread_record& next) noexcept {
  ++state.switches;
  if (state.current->tx.elided_count != 0) hide_elided_locks(*state.current);
  if (state.store_buffers) change_view(*state.current, next);
  if (next.tx.elided_count != 0) show_elided_locks(next);
  set_current(&next);
  load_hot_state();
  set_fs_base(next.thread_pointer);
  txsync_sim_switch(save, next.stack_pointer, next.resume_value);
}

void take_timer_interrupt(thread_record& thread) noexcept {
  hardware_thread& cpu = cpu_of(thread);
  const ticks period = cycles(std::uint64_t{state.model.core_mhz} * 1'000'000 / state.model.os_timer_hz);
  while (cpu.next_timer <= thread.time) cpu.next_timer += period;
  set_interruption(cpu);
  thread.time += cycles(state.model.os_timer);
  if (thread.tx.depth != 0 && state.model.htm_timer_aborts != 0) end_own_attempt({.why = cause::interrupt});
}

}  // namespace

void report_deadlock() noexcept {
  line_text line;
  line << "deadlock: nothing can run";
  add_seed(line);
  line << "; waiting:";
  add_places(line, [](const thread_record& thread) {
    return thread.state == thread_state::blocked || (thread.state == thread_state::running && !can_go_on(thread));
  });
  add_awaited_locks(line);
  fail(line);
}

void report_livelock() noexcept {
  line_text line;
  line << "livelock: more than " << state.max_steps << " steps without an end";
  add_seed(line);
  line << "; running:";
  add_places(line, [](const thread_record& thread) { return thread.state == thread_state::running; });
  fail(line);
}

void switch_to(thread_record& next) noexcept { continue_with(&state.current->stack_pointer, next); }

void switch_to_next() noexcept {
  thread_record& before = *state.current;
  thread_record& next = choose();
  if (&next == &before) {
    if (!exploring()) load_hot_state();  // while exploring, this state is always the same
    return;
  }
  switch_to(next);
}

bool has_deadline() noexcept { return sleepers.first() != never; }

ticks next_deadline() noexcept { return sleepers.first(); }

bool next_deadline_is_short() noexcept { return sleepers.first_thread().waits_shortly; }

void fire_deadline() noexcept {
  thread_record& thread = sleepers.take_first();
  by_time.next_deadline = sleepers.first();
  thread.timed_out = true;
  futex_forget(thread);
  const ticks at = thread.deadline;
  thread.deadline = never;
  make_runnable(thread, at + cycles(state.model.os_wake_delay));
}

void set_up_schedule() noexcept {
  const unsigned cores = state.model.total_cores();
  running_on = static_cast<unsigned*>(reserve(0, cores * sizeof(unsigned), "counts"));
  rates = static_cast<ticks*>(reserve(0, (state.model.core_threads + 1) * sizeof(ticks), "rates"));
  for (unsigned running = 0; running <= state.model.core_threads; ++running) rates[running] = rate_for(running);
  by_time.at = static_cast<thread_record**>(reserve(0, tournament::max_places * sizeof *by_time.at, "places"));
  by_time.threads.set_up();
  sleepers.set_up();
  const std::uint32_t hertz = state.model.os_timer_hz;
  for (unsigned i = 0; i < state.cpu_count; ++i) {
    // Each hardware thread's timer has its own phase.
    const std::uint64_t period = hertz != 0 ? std::uint64_t{state.model.core_mhz} * 1'000'000 / hertz : 0;
    state.cpus[i].next_timer = hertz != 0 ? cycles(1 + state.random.below(period)) : never;
    set_interruption(state.cpus[i]);
  }
  scheduler_fs = fs_base();
}

void load_hot_state() noexcept {
  if (exploring()) {
    state.filter = nullptr;
    state.limit = state.hit_limit = 0;
    return;
  }
  thread_record& thread = *state.current;
  hardware_thread& cpu = cpu_of(thread);
  load_thread(thread, cpu);
  state.by_time_alone = !state.oracle && state.max_steps == 0;
  if (state.oracle) state.filter = nullptr;
  load_limits(cpu, by_time.threads.first_except(cpu.place()));
}

void reschedule() noexcept {
  if (exploring()) return explored_step();  // no clock gives the order, so none interrupts
  if (++state.steps > state.last_step) report_livelock();
  thread_record& thread = *state.current;
  hardware_thread& cpu = cpu_of(thread);
  if (thread.time >= state.time_limit) report_limit();
  if (thread.time >= cpu.next_timer) take_timer_interrupt(thread);
  if (cpu.ready_first != nullptr && thread.time >= cpu.slice_end) return give_way();
  set_place(cpu);
  switch_to_next();
}

void scheduling_point() noexcept {
  if (state.oracle) oracle_settle();
  if (state.current != nullptr && state.current->time >= state.limit) reschedule();
}

void pausing_point() noexcept {
  if (exploring()) return scheduling_point();
  const thread_record& thread = *state.current;
  const ticks limit = state.limit > never - max_pause ? never : state.limit + max_pause;
  const ticks timer = cpu_of(thread).next_timer;
  if (thread.time >= state.limit && (thread.time >= limit || thread.time >= timer)) scheduling_point();
}

thread_record& enter_kernel(std::uint64_t more_cycles) noexcept {
  if (state.current == nullptr)
    fail(
        "the program starts, wakes or waits for threads before main() begins or after its end: they are not simulated "
        "then");
  leave_attempt(cause::syscall);
  if (!state.follows_program || is_step_of_call(*state.current, 0)) scheduling_point();
  thread_record& self = *state.current;
  drain_own();
  charge(self, state.model.os_syscall + more_cycles);
  return self;
}

void give_way() noexcept {
  thread_record& thread = *state.current;
  spun(thread);
  hardware_thread& cpu = cpu_of(thread);
  if (cpu.ready_first != nullptr) {
    leave_attempt(cause::interrupt);
    enqueue(cpu, thread);
    take_off(cpu);
  } else {
    set_place(cpu);
  }
  switch_to_next();
}

void block(ticks deadline) noexcept {
  thread_record& thread = *state.current;
  leave_attempt(cause::interrupt);
  thread.state = thread_state::blocked;
  thread.timed_out = false;
  thread.deadline = deadline;
  if (deadline != never) {
    // A scheduler may keep the other threads from running for a millisecond.
    const ticks short_time = cycles(std::uint64_t{state.model.core_mhz} * 1000);
    thread.waits_shortly = deadline <= thread.time + short_time;
    if (thread.waits_shortly) happens_in_segment(segment_event_kind::waits_shortly, nullptr);
    sleepers.add(thread);
    by_time.next_deadline = sleepers.first();
  }
  take_off(cpu_of(thread));
  switch_to_next();
}

void wake(thread_record& thread, ticks at) noexcept {
  if (thread.state != thread_state::blocked) return;
  if (thread.deadline != never) {
    sleepers.remove(thread);
    by_time.next_deadline = sleepers.first();
    thread.deadline = never;
  }
  make_runnable(thread, at);
}

void launch(thread_record& thread, ticks at) noexcept {
  thread.time = 0;
  draw_priorities(thread);
  make_runnable(thread, at);
}

void retire() noexcept {
  if (state.oracle) oracle_settle();  // for what the thread wrote last
  drain_own();
  thread_record& thread = *state.current;
  if (thread.time > state.latest) state.latest = thread.time;
  thread.state = thread_state::ended;
  --state.live_threads;
  take_off(cpu_of(thread));
  if (thread.joiner != nullptr) wake(*thread.joiner, thread.time);
  static std::uintptr_t unused_stack;
  continue_with(&unused_stack, choose());
  __builtin_unreachable();
}

void time_changed(const thread_record& thread) noexcept {
  set_place(cpu_of(thread));
  load_hot_state();
}

void migrate(unsigned cpu) noexcept {
  thread_record& thread = *state.current;
  if (thread.cpu == cpu) return;
  leave_attempt(cause::interrupt);
  take_off(cpu_of(thread));
  thread.cpu = static_cast<std::uint16_t>(cpu);
  hardware_thread& there = state.cpus[cpu];
  if (there.running == nullptr) {
    put_on(there, thread);
  } else {
    enqueue(there, thread);
  }
  switch_to_next();
}

void switch_to_scheduler(thread_record& self) noexcept {
  set_fs_base(scheduler_fs);
  txsync_sim_switch(&self.stack_pointer, scheduler_stack, 0);
}

/// The scheduler's own loop: runs the first thread, and does for threads what cannot be done on their own stacks. Ends
/// when the program has ended.
void run_scheduler(bool (*over)()) noexcept {
  while (!over()) {
    if (state.current->tx.depth != 0) finish_abort_of_current();
    thread_record& next = *state.current;
    set_fs_base(next.thread_pointer);
    txsync_sim_switch(&scheduler_stack, next.stack_pointer, next.resume_value);
  }
}

}  // namespace txsync::sim
