// SPDX-License-Identifier: Apache-2.0
// Threads, sleep and futex, for the seam (runtime.h) and the program library (program.h).
#include <unistd.h>

#include <new>

#include "../program.h"
#include "abort_log.hpp"
#include "access.hpp"
#include "failure.hpp"
#include "probes.hpp"
#include "races.hpp"
#include "systematic.hpp"
#include "waiters.hpp"

// libc's: the thread_local destructors of the running thread.
extern "C" void __call_tls_dtors() noexcept __attribute__((weak));

namespace txsync::sim {

namespace {

thread_record& unused_record() noexcept {
  for (unsigned i = 0; i < state.thread_count; ++i) {
    thread_record& thread = state.threads[i];
    const bool nobody_waits = thread.detached && thread.state == thread_state::ended;
    if (thread.state == thread_state::unused || nobody_waits) return thread;
  }
  if (state.thread_count == max_threads) fail("the simulated program has more than 2048 threads");
  thread_record& thread = *new (&state.threads[state.thread_count]) thread_record;
  thread.id = state.thread_count++;
  return thread;
}

// The orders of machine::placement.
constexpr int not_pinned = 0;
constexpr int smt_first = 2;
constexpr int one_socket = 3;

/// Hardware threads are numbered core by core, so for smt_first the place is the index. The other orders take the cores
/// of the first socket first, then their siblings, then the next socket.
unsigned place_for(int order, unsigned index, unsigned socket) noexcept {
  const machine_model& model = state.model;
  const unsigned socket_threads = model.core_cores * model.core_threads;
  const unsigned all = order == one_socket ? socket_threads : state.cpu_count;
  unsigned place = index % all;
  if (order == smt_first) return place;
  if (order != one_socket) socket = place / socket_threads;
  place %= socket_threads;
  const unsigned core = socket * model.core_cores + place % model.core_cores;
  return core * model.core_threads + place / model.core_cores;
}

/// Where a scheduler would put the next thread.
std::uint16_t home_for(unsigned number) noexcept {
  return static_cast<std::uint16_t>(place_for(not_pinned, number, 0));
}

bool is_live(const thread_record& thread) noexcept {
  return thread.state != thread_state::unused && thread.state != thread_state::ended;
}

/// Exploration has no time slices. So each thread needs its own hardware thread, or it would wait for another one's
/// end.
std::uint16_t free_home() noexcept {
  for (unsigned cpu = 0; cpu < state.cpu_count; ++cpu) {
    bool taken = false;
    for (unsigned i = 0; i < state.thread_count; ++i) {
      taken = taken || (is_live(state.threads[i]) && state.threads[i].cpu == cpu);
    }
    if (!taken) return static_cast<std::uint16_t>(cpu);
  }
  return home_for(state.live_threads);
}

/// A thread may end in an attempt that goes on after its last section (coarsening). The system call at its end would
/// abort the attempt, and undo what the exit calls have done in it.
void run_exit_calls(thread_record& thread) noexcept {
  for (;;) {
    leave_attempt(cause::syscall);
    if (thread.exit_count == 0) break;
    const thread_record::exit_call call = thread.exit_calls[--thread.exit_count];
    call.function(call.argument);
  }
  if (__call_tls_dtors != nullptr) __call_tls_dtors();
}

[[noreturn]] void leave(thread_record& thread) noexcept {
  run_exit_calls(thread);
  leave_attempt(cause::syscall);
  drop_suspended_attempt(thread);
  if (state.live_threads == 1) txsync_sim_exit(0);  // the last thread ends the process (POSIX, pthread_exit)
  if (thread.detached) thread.joiner = nullptr;
  retire();
}

void thread_main() {
  thread_record& self = *state.current;
  self.function(self.argument);
  leave(self);
}

}  // namespace

thread_record& make_thread(void (*function)(void*), void* argument, ticks at) noexcept {
  charge_from_now_on();
  thread_record& thread = unused_record();
  const unsigned before = state.live_threads++;
  prepare_fiber(thread, thread_main);
  thread.function = function;
  thread.argument = argument;
  thread.joiner = nullptr;
  thread.detached = false;
  thread.pinned = false;
  thread.shows_realtime = false;
  thread.exit_count = 0;
  thread.enters_library = false;
  thread.library_depth = 0;
  thread.accesses_without_step = 0;
  thread.library_call = 0;
  thread.asked_lock = nullptr;
  thread.calls_lock = false;
  thread.asked_thread = nullptr;
  thread.asked_semaphore = nullptr;
  thread.creator = state.current != nullptr ? state.current->id : thread.id;
  thread.cpu = exploring() ? free_home() : home_for(before);
  launch(thread, at);
  return thread;
}

}  // namespace txsync::sim

using namespace txsync::sim;

namespace {

ticks at_nanosecond(std::uint64_t time) noexcept {
  const auto wide = static_cast<unsigned __int128>(time) * state.model.core_mhz * ticks_per_cycle / 1000;
  return wide >= never ? never - 1 : static_cast<ticks>(wide);
}

constexpr int woken = 0;
constexpr int changed = 1;
constexpr int timed_out = 2;
constexpr std::uint64_t no_deadline = ~std::uint64_t{0};

}  // namespace

extern "C" {

int txsync_sim_thread_start(std::uintptr_t* handle, void (*function)(void*), void* argument) {
  thread_record& self = enter_kernel(state.model.os_thread_start);
  check_access<true>(self, reinterpret_cast<std::uintptr_t>(handle), sizeof *handle);
  thread_record& made = make_thread(function, argument, self.time);
  begins_after(made, self);
  ++state.unjoined_threads;
  *handle = reinterpret_cast<std::uintptr_t>(&made);
  return 1;
}

void txsync_sim_thread_join(std::uintptr_t handle) {
  thread_record& self = enter_kernel(0);
  auto& thread = *reinterpret_cast<thread_record*>(handle);
  if (thread.state != thread_state::ended) {
    thread.joiner = &self;
    block(never);
  } else if (self.time < thread.time) {
    self.time = thread.time;
  }
  goes_on_after(self, thread);
  joins_in_segment(thread);
  self.asked_thread = nullptr;
  --state.unjoined_threads;
  thread.state = thread_state::unused;
}

void txsync_sim_thread_detach(std::uintptr_t handle) {
  leave_attempt(cause::syscall);  // what follows would not be undone
  reinterpret_cast<thread_record*>(handle)->detached = true;
}

std::uintptr_t txsync_sim_first_thread(void) { return reinterpret_cast<std::uintptr_t>(&state.threads[0]); }

void txsync_sim_thread_exit(void) { leave(*state.current); }

std::uint32_t txsync_sim_thread_id(void) { return state.current != nullptr ? state.current->id + 1 : 1; }

int txsync_sim_at_thread_exit(void (*function)(void*), void* argument) {
  if (state.current == nullptr) return 0;
  thread_record& self = *state.current;
  constexpr unsigned most = sizeof self.exit_calls / sizeof self.exit_calls[0];
  if (self.exit_count == most) return 0;
  self.exit_calls[self.exit_count++] = {function, argument};
  return 1;
}

void txsync_sim_yield(void) {
  if (state.current == nullptr) return;
  if (state.current->shows_realtime) fail("a real-time thread yields: that lets no other thread run");
  enter_kernel(0);
  give_way();
}

void txsync_sim_sleep_ns(std::uint64_t duration) {
  thread_record& self = enter_kernel(0);
  block(self.time + at_nanosecond(duration));
}

unsigned txsync_sim_program_cpus(void) { return state.shown_cpus != 0 ? state.shown_cpus : state.cpu_count; }
// Where there is one, waiters sleep at once. So a program's call of the library that waits is one step.
unsigned txsync_sim_cpu_count(void) { return state.follows_program ? 1 : txsync_sim_program_cpus(); }
void txsync_sim_show_cpus(unsigned count) { state.shown_cpus = count; }
void txsync_sim_show_realtime(int is_realtime) { state.current->shows_realtime = is_realtime != 0; }
int txsync_sim_is_realtime(void) { return state.current != nullptr && state.current->shows_realtime ? 1 : 0; }
void txsync_sim_show_forks(std::uint32_t count) { state.shown_forks = count; }
std::uint32_t txsync_sim_fork_count(void) { return state.shown_forks; }
void txsync_sim_wait_for_ever(int is_for_ever) { state.waits_for_ever = is_for_ever != 0; }

int txsync_sim_pin(unsigned cpu) {
  enter_kernel(0);
  if (cpu >= state.cpu_count) return 0;
  migrate(cpu);
  state.current->pinned = true;
  return 1;
}
void txsync_sim_unpin(void) {
  enter_kernel(0);
  state.current->pinned = false;
}

unsigned txsync_sim_cpu(void) { return state.current != nullptr ? state.current->cpu % txsync_sim_program_cpus() : 0; }
unsigned txsync_sim_socket(void) { return state.current != nullptr ? cpu_of(*state.current).socket : 0; }
int txsync_sim_is_pinned(void) { return state.current != nullptr && state.current->pinned ? 1 : 0; }

unsigned txsync_sim_capability(void) {
  const machine_model& model = state.model;
  if (model.htm_attempts == 0) return 0;
  return 1u | (model.htm_hle != 0 ? 2u : 0) | (model.htm_suspend != 0 ? 4u : 0) |
         (model.htm_rollback_only != 0 ? 8u : 0) | (model.htm_always_abort != 0 ? 16u : 0) | model.htm_nesting << 8;
}
unsigned txsync_sim_place(int order, unsigned index, unsigned socket) { return place_for(order, index, socket); }
unsigned txsync_sim_socket_count(void) { return state.model.core_sockets; }

int txsync_sim_park(const void* word, std::uint32_t expected, std::uint64_t deadline_ns) {
  thread_record& self = enter_kernel(0);
  touches_in_segment(reinterpret_cast<std::uintptr_t>(word), 4, true);
  check_access<false>(self, reinterpret_cast<std::uintptr_t>(word), 4);
  if (*static_cast<const volatile std::uint32_t*>(word) != expected) return changed;
  const ticks deadline = deadline_ns == no_deadline || state.waits_for_ever ? never : at_nanosecond(deadline_ns);
  if (deadline <= self.time) return timed_out;
  if (wakes_at_once()) return woken;
  return futex_wait(word, deadline) ? woken : timed_out;
}

unsigned txsync_sim_unpark(const void* word, unsigned count) {
  enter_kernel(0);
  touches_in_segment(reinterpret_cast<std::uintptr_t>(word), 4, true);
  return futex_wake(word, count);
}

void txsync_sim_system_call(const char*) {
  if (state.current != nullptr) enter_kernel(0);
}

void txsync_sim_unsupported(const char* name) {
  line_text line;
  line << "the program calls " << name << ", which a simulated program cannot do";
  fail(line);
}

void txsync_sim_complain(const char* text, std::size_t length) {
  txsync_sim_system_call("write");
  if (!exploring()) (void)!write(STDERR_FILENO, text, length);
}

void txsync_sim_phase(int phase) {
  constexpr int set_up = 1;
  constexpr int measured = 2;
  charge_from_now_on();
  count_attempts(phase == measured);
  // Only for a lone thread, without an attempt that must know what it reads, and without a page that refuses accesses.
  if (phase != set_up || !state.uncharged_set_up || state.live_threads != 1 || state.current->tx.depth != 0) return;
  if (state.guards_pages) return;
  state.uncharged = true;
  set_current(state.current);
}

std::uint64_t txsync_sim_random(void) { return state.random.next(); }
std::uint64_t txsync_sim_seed(void) { return present_seed(); }

}  // extern "C"
