/* SPDX-License-Identifier: Apache-2.0
   What the simulated machine's runtime (src/sim) offers to a program. These are C functions only, so that no C++ type
   crosses between the program's image and the runtime. A test of the machine floor has tests/machine/virtual_stub.cpp
   in its place, which serves one thread. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

uint32_t txsync_sim_begin(void);
void txsync_sim_end(void);
void txsync_sim_abort(uint8_t code);
void txsync_sim_abort_busy(const void* lock); /* aborts with code 0xFF; reports name the lock */
unsigned txsync_sim_depth(void);
/* For words of 1, 2, 4 or 8 bytes. The hooks of atomic exchanges and stores with Intel's hints do the same. */
uint64_t txsync_sim_hle_acquire(void* word, unsigned bytes, uint64_t value);
void txsync_sim_hle_release(void* word, unsigned bytes, uint64_t value);
uint32_t txsync_sim_warm_begin(void);
int txsync_sim_warm_active(void);
uint32_t txsync_sim_begin_rollback_only(void);
void txsync_sim_suspend(void);
void txsync_sim_resume(void);

void txsync_sim_prefetch(const void* address, int for_write);
void txsync_sim_fence(void);
void txsync_sim_relax(void);
uint64_t txsync_sim_cycles(void);
uint64_t txsync_sim_cycles_per_second(void);
uint64_t txsync_sim_clock_ns(void);
/* The time of day is this plus txsync_sim_clock_ns(): every run starts on 2026-01-01, 00:00 UTC. */
#define TXSYNC_SIM_START_OF_TIME_NS (UINT64_C(1767225600) * UINT64_C(1000000000))

int txsync_sim_thread_start(uintptr_t* handle, void (*function)(void*), void* argument);
void txsync_sim_thread_join(uintptr_t handle);
uint32_t txsync_sim_thread_id(void);
int txsync_sim_at_thread_exit(void (*function)(void*), void* argument);
void txsync_sim_yield(void);
void txsync_sim_sleep_ns(uint64_t duration);
unsigned txsync_sim_cpu_count(void);
int txsync_sim_pin(unsigned cpu);
void txsync_sim_unpin(void);
/* The calling thread's hardware thread, from 0, as CPUs report it: not a system call, so attempts continue. */
unsigned txsync_sim_cpu(void);
unsigned txsync_sim_socket(void); /* its socket */
int txsync_sim_is_pinned(void);
int txsync_sim_park(const void* word, uint32_t expected, uint64_t deadline_ns); /* 0 woken, 1 changed, 2 timed out */
unsigned txsync_sim_unpark(const void* word, unsigned count);

/* Around what an assertion looks at (machine/assert.hpp). Accesses between the two calls cost no time and are no step of
   a schedule. They have no effect on caches and attempts. The second call gets the result of the first. Calls nest. */
int txsync_sim_look_unseen(void);
void txsync_sim_end_look(int began);

/* Ends the simulation, because the program cannot continue; `why` is a reason in a few words. Does not return. */
void txsync_sim_give_up(const char* why);

/* What the machine offers: bit 0 attempts, 1 elision by prefix, 2 suspend, 3 rollback-only, 4 always-abort. Bits 8 and
   up are the maximum nesting. */
unsigned txsync_sim_capability(void);
/* For machine::cpu_for() and socket_count(). `order` is a machine::placement. */
unsigned txsync_sim_place(int order, unsigned index, unsigned socket);
unsigned txsync_sim_socket_count(void);

/* Writes a line of the image's records, which the process that started the image reads. */
void txsync_sim_record(const char* name, uint64_t value);
/* Tells that process of a test that the image contains. `name` and `expected` are one word each, the summary is a text
   without line feeds. */
void txsync_sim_record_test(const char* name, const char* expected, const char* summary);
/* Begins the next schedule of an exploration: all choices from now on follow from the seed. Requires: the calling
   thread is the only one. */
void txsync_sim_schedule_begin(uint64_t seed);
/* The schedules from now on are about as long as this one. Orders draw change points and delays from that length. */
void txsync_sim_expect_such_schedules(void);
/* A part of the program that runs in many schedules (txsync/explore.hpp). A program that refers to these functions can be
   started without txsync. next: 1 if the part has to run once more, 0 if the exploration is over. failed: the schedule
   that has run was wrong; says how to repeat it, and ends the exploration. explored: how many schedules the last
   exploration had, without those that come first. Requires of begin and next: the calling thread is the only one. */
struct txsync_sim_exploration {
  const char* name;
  uint64_t schedules;
  uint64_t seed;
  uint64_t max_steps; /* of a schedule; 0: 20 times those of the first ones */
  unsigned order;     /* sim::schedule_order; 0: several in turn */
  unsigned store_buffers;
  unsigned races;
};
void txsync_sim_explore_begin(const struct txsync_sim_exploration* asked);
int txsync_sim_explore_next(void);
void txsync_sim_explore_failed(void);
uint64_t txsync_sim_explored(void);
/* Stores a word outside of the program's memory, in the order of execution. It is neither a step of the schedule nor a
   store, and an abort does not undo it. Returns how many notes there were before it in this schedule. Any thread may
   call it. */
uint32_t txsync_sim_note(uint64_t word);
uint32_t txsync_sim_note_count(void);
/* 0 if there is no such note. */
uint64_t txsync_sim_note_at(uint32_t index);
/* The seed of the run, or of the current schedule. */
uint64_t txsync_sim_seed(void);
/* The number given to the run (TXSYNC_SIM_VARIANT), by which a program that contains variants of itself chooses. */
unsigned txsync_sim_variant(void);
/* Sets what txsync_sim_cpu_count() returns from now on; 0: the machine's own number. */
void txsync_sim_show_cpus(unsigned count);
/* Sets what machine::has_realtime_priority() returns in the calling thread, until it ends. If it has such a priority,
   machine::yield() fails: it would let no other thread run. */
void txsync_sim_show_realtime(int is_realtime);
int txsync_sim_is_realtime(void);
/* Sets what machine::fork_count() returns from now on, as if the program were the child of a fork. */
void txsync_sim_show_forks(uint32_t count);
uint32_t txsync_sim_fork_count(void);
/* Whether waits at a word have no deadlines from now on, so that a thread that is not woken sleeps for ever. */
void txsync_sim_wait_for_ever(int is_for_ever);
/* machine::enter_phase(). If the run asks for it (TXSYNC_SIM_UNCHARGED), phase 1 (set-up) takes no time and leaves the
   caches as they are, while there is one thread. Counts of attempts start at 0 with phase 2 (measured). */
void txsync_sim_phase(int phase);
/* Writes a line to the standard error, except during explorations, where each schedule would repeat it. */
void txsync_sim_complain(const char* text, size_t length);

/* Until it is called with null, an access fault of the calling thread outside attempts continues at `target`. That is
   a jmp_buf, where setjmp then returns 1. No handler of the program's is called. */
void txsync_sim_catch_faults(void* target);

size_t txsync_sim_page_size(void);
void* txsync_sim_map_pages(size_t bytes);
void txsync_sim_unmap_pages(void* address, size_t bytes);
void txsync_sim_discard_pages(void* address, size_t bytes);
void txsync_sim_populate_pages(void* address, size_t bytes);
/* Both addresses, or nulls. */
void txsync_sim_map_pages_twice(size_t bytes, void** both);
/* `allowed` is a machine::page_rights. 1 on success. */
int txsync_sim_protect_pages(void* address, size_t bytes, int allowed);
/* machine::set_fault_handler(): the handler returns 0 if the fault is not its own. */
void txsync_sim_on_fault(int (*handler)(void* address, int write, void* argument), void* argument);

#ifdef __cplusplus
}
#endif
