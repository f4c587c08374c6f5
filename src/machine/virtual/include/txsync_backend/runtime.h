/* SPDX-License-Identifier: Apache-2.0
   What the simulated machine's runtime (src/sim) offers to a program: C functions only, so that no C++ type crosses
   between the program's image and the runtime. Until src/sim stands, tests/virtual_stub.cpp serves one thread. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

uint32_t txsync_sim_begin(void);
void txsync_sim_end(void);
void txsync_sim_abort(uint8_t code);
void txsync_sim_abort_busy(const void* lock); /* by code 0xFF, and reports name the lock */
unsigned txsync_sim_depth(void);
/* Of words of 1, 2, 4 or 8 bytes; the hooks of atomic exchanges and stores with Intel's hints do the same. */
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
/* The time of day is this and txsync_sim_clock_ns(): every run starts on 2026-01-01, 00:00 UTC. */
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
/* The calling thread's hardware thread, from 0, as CPUs tell it: no system call, and attempts go on. */
unsigned txsync_sim_cpu(void);
unsigned txsync_sim_socket(void); /* its socket */
int txsync_sim_is_pinned(void);
int txsync_sim_park(const void* word, uint32_t expected, uint64_t deadline_ns); /* 0 woken, 1 changed, 2 timed out */
unsigned txsync_sim_unpark(const void* word, unsigned count);

/* Ends the simulation: the program cannot go on, for a reason in a few words. Does not return. */
void txsync_sim_give_up(const char* why);

/* What the machine offers: bit 0 attempts, 1 elision by prefix, 2 suspend, 3 rollback-only, 4 always-abort; the deepest
   nesting above bit 8. */
unsigned txsync_sim_capability(void);
/* machine::cpu_for() and socket_count(): `order` is a machine::placement. */
unsigned txsync_sim_place(int order, unsigned index, unsigned socket);
unsigned txsync_sim_socket_count(void);

/* A line of the image's records: what a program tells whoever started it. */
void txsync_sim_record(const char* name, uint64_t value);
/* The next schedule of an exploration begins here: all choices from now on follow from the seed. The calling thread is
   the only one. */
void txsync_sim_schedule_begin(uint64_t seed);
/* The schedules from now on are about as long as this one: orders draw change points and delays from that. */
void txsync_sim_expect_such_schedules(void);
/* Writes down a word outside of the program's memory, in the order of execution: no step of the schedule, no store, and
   not undone with an attempt. Answers how many there were before it in this schedule. Calls from any thread. */
uint32_t txsync_sim_note(uint64_t word);
uint32_t txsync_sim_note_count(void);
/* Zero where there is no such note. */
uint64_t txsync_sim_note_at(uint32_t index);
/* The seed of the run, or of the schedule under way. */
uint64_t txsync_sim_seed(void);
/* The number that the run was given (TXSYNC_SIM_VARIANT): a program that holds variants of itself chooses by it. */
unsigned txsync_sim_variant(void);
/* What txsync_sim_cpu_count() answers from now on; 0: what the machine has. */
void txsync_sim_show_cpus(unsigned count);
/* What machine::has_realtime_priority() answers in the calling thread, until it ends. If it has one, machine::yield()
   fails: it would let no other thread run. */
void txsync_sim_show_realtime(int is_realtime);
int txsync_sim_is_realtime(void);
/* What machine::fork_count() answers from now on: the program is as in the child of a fork. */
void txsync_sim_show_forks(uint32_t count);
uint32_t txsync_sim_fork_count(void);
/* Whether waits at a word have no deadlines from now on: a thread that is not woken sleeps for ever. */
void txsync_sim_wait_for_ever(int is_for_ever);
/* machine::enter_phase(). Where the run was told so (TXSYNC_SIM_UNCHARGED), what the only thread does in phase 1,
   set-up, takes no time and leaves the caches as they are; from phase 2, measured, counts of attempts start at zero. */
void txsync_sim_phase(int phase);
/* A line for the standard error. Not while schedules are explored: each would say the same. */
void txsync_sim_complain(const char* text, size_t length);

/* Until it is called with null, an access fault of the calling thread outside attempts goes on at `landing`, a jmp_buf,
   where setjmp answers 1, and no handler of the program's is asked. */
void txsync_sim_catch_faults(void* landing);

size_t txsync_sim_page_size(void);
void* txsync_sim_map_pages(size_t bytes);
void txsync_sim_unmap_pages(void* address, size_t bytes);

#ifdef __cplusplus
}
#endif
