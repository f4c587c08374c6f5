/* SPDX-License-Identifier: Apache-2.0 */
// What the image of a simulated program needs from the runtime, beyond txsync_backend/runtime.h and the compiler's
// hooks.
//
// A program is linked from three parts:
// - its own objects, compiled by the recipe of toolchain/: instrumented, and the outside symbols that they use renamed;
// - the program library (toolchain/library), which stands between these objects and libc. Its instrumented half
//   replaces precompiled C++ and threads (trees, std::thread, guards, pthread_create, semaphores). Its other half calls
//   libc, and says beforehand what libc will touch (mem*, str*, files, stdio);
// - the runtime: everything declared here, runtime.h, the hooks and the malloc family. It and libc keep libc's own
//   names.
//
// toolchain/symbols.txt is the only table of outside symbols: which are renamed, allowed as they are, or refused.
// pthread_mutex_*, cond, rwlock, spin and barrier are renamed to txsync_sim_pthread_*. src/preload, compiled for the
// virtual back end, defines those.
//
// The hooks that a program calls:
// - __tsan_init, __tsan_func_{entry,exit};
// - __tsan_[unaligned_|volatile_|unaligned_volatile_]{read,write}{1,2,4,8,16}; __tsan_{read,write}_range;
// - __tsan_vptr_{update,read}; __tsan_atomic_{thread,signal}_fence;
// - __tsan_atomic{8,16,32,64,128}_{load,store,exchange,fetch_{add,sub,and,or,xor,nand},
//   compare_exchange_{strong,weak,val}}.
//
// A plain access is done by the object file, right after its hook and with no other hook in between. An atomic access
// is done by its hook. The hook of a compare_exchange reads *expected, and writes it on failure, like any other memory.
// Hooks and wrappers are also called from static constructors, before the runtime has a thread.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Started by the runtime: the program's main(), renamed. Arguments and environment are copies at addresses that do
// not change from run to run. It is weak in the runtime, because an image without it has its own main().
int txsync_sim_user_main(int argc, char** argv, char** environment);

// Called after the program has ended, outside the simulation: it writes records (runtime.h) of what was counted. Weak
// in the runtime.
void txsync_sim_at_end(void);

// ---- Memory that a library function is going to touch. A wrapper calls step() once, then announces everything that it
// reads and writes, and then lets libc do it. So check and access are one step for all other threads. step() may switch
// threads, and must be called before anything is measured (strlen). reads() and writes() never switch: they do
// conflicts, undo log and virtual time only. All three may end the calling attempt; then they do not return.
void txsync_sim_step(void);
void txsync_sim_reads(const void* address, size_t bytes);
void txsync_sim_writes(void* address, size_t bytes);
// The next of the two is for an atomic object, in this order of C++. `what`: 0 a load, 1 a store, 2 both in one step.
void txsync_sim_next_is_atomic(int what, int order);

// ---- Called before something that cannot be undone (system calls, stdio, locale, registration of exit functions). It
// ends the calling thread's attempt with cause `syscall` and does not return. Outside an attempt it charges a system
// call of that name and may switch. The name is a string literal, for reports.
void txsync_sim_system_call(const char* name);
/* The same for what a simulated program cannot do at all; most of it is named when the program is linked. Ends the
   simulation with a message that names the call. */
void txsync_sim_unsupported(const char* name) __attribute__((noreturn));

// ---- Threads, in addition to runtime.h's start and join. The program library implements pthread_* with them. detach:
// like join, but nobody waits. exit: ends the calling thread; its exit functions run (runtime.h's at_thread_exit,
// thread_local destructors).
void txsync_sim_thread_detach(uintptr_t handle);
/// How many processors a program sees. The library itself sees fewer where waiters have to sleep at once.
unsigned txsync_sim_program_cpus(void);
/// The handle of the thread that runs main().
uintptr_t txsync_sim_first_thread(void);
void txsync_sim_thread_exit(void) __attribute__((noreturn));

// ---- Waits and locks of the calling thread, for messages and for the order systematic.
// What it is about to wait for. To be called before the first access of a call, where other threads may go first. Null:
// for nothing any more. `how`: 1 a lock for reading, 2 with a deadline, 4 after a wake-up. join: the thread that was
// started with that argument; _at: the argument is there.
void txsync_sim_lock_asked(const void* lock, unsigned how);
void txsync_sim_semaphore_asked(const uint32_t* count);
void txsync_sim_join_asked(uintptr_t argument);
void txsync_sim_join_asked_at(const void* argument);
// A call that takes or gives up a lock begins and ends. The accesses in between do not count: to other threads, the call
// reads or writes the whole lock. `what` is the result:
//   0 a try has failed          1 taken for reading          2 taken
//   3 given up                  4 taken by a try, or before a deadline           5 the same for reading
// touched: the call may sleep. wait: at a condition, the lock is given up. notifies: one waiter of a condition, or all.
void txsync_sim_lock_touched(const void* lock, size_t bytes);
void txsync_sim_lock_call_begins(void);
void txsync_sim_lock_call_ends(const void* lock, size_t bytes, int what);
void txsync_sim_wait_begins(const void* condition, size_t condition_bytes, const void* lock, size_t bytes);
void txsync_sim_notifies(const void* condition, int all);

// ---- The end of the program, from any thread. atexit functions run on that thread. quick: none of them runs. abort:
// the simulation ends with its report and the simulated stack.
void txsync_sim_exit(int status) __attribute__((noreturn));
void txsync_sim_quick_exit(int status) __attribute__((noreturn));
void txsync_sim_abort_program(void) __attribute__((noreturn));

// ---- Random numbers, from the run's seed. The time of day is a constant plus txsync_sim_clock_ns().
uint64_t txsync_sim_random(void);

// ---- Pages; their rights exist in the model. prot and flags as for mmap; results as from mmap, with errno. `file` is
// -1 or a descriptor of the real file, which is mapped privately or shared as flags say.
void* txsync_sim_mmap(void* address, size_t bytes, int prot, int flags, int file, int64_t offset);
int txsync_sim_munmap(void* address, size_t bytes);
int txsync_sim_mprotect(void* address, size_t bytes, int prot);
int txsync_sim_madvise(void* address, size_t bytes, int advice);
void* txsync_sim_mremap(void* address, size_t bytes, size_t new_bytes, int flags, void* new_address);

// ---- Signals. The model keeps and calls handlers of faults only (SIGSEGV, SIGBUS). What sigaction sets for other
// signals is remembered, but they are never delivered.
struct sigaction;
int txsync_sim_sigaction(int signal, const struct sigaction* action, struct sigaction* old);

#ifdef __cplusplus
}
#endif
