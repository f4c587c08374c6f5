// SPDX-License-Identifier: Apache-2.0
// A runtime for one simulated thread, until src/sim stands.
#include <cstdlib>
#include <cstring>

#include <txsync_backend/runtime.h>

static uint64_t now = 1;

extern "C" {

uint32_t txsync_sim_begin(void) { return 0; }
void txsync_sim_end(void) {}
void txsync_sim_abort(uint8_t) {}
void txsync_sim_abort_busy(const void*) {}
unsigned txsync_sim_depth(void) { return 0; }
uint64_t txsync_sim_hle_acquire(void* word, unsigned bytes, uint64_t value) {
  uint64_t old = 0;
  memcpy(&old, word, bytes);  // little-endian, as all machines that simulate
  memcpy(word, &value, bytes);
  return old;
}
void txsync_sim_hle_release(void* word, unsigned bytes, uint64_t value) { memcpy(word, &value, bytes); }
uint32_t txsync_sim_warm_begin(void) { return 0; }
int txsync_sim_warm_active(void) { return 0; }
uint32_t txsync_sim_begin_rollback_only(void) { return 0; }
void txsync_sim_suspend(void) {}
void txsync_sim_resume(void) {}

void txsync_sim_catch_faults(void*) {}
int txsync_sim_look_unseen(void) { return 0; }
void txsync_sim_end_look(int) {}
void txsync_sim_give_up(const char*) { abort(); }

void txsync_sim_prefetch(const void*, int) {}
void txsync_sim_fence(void) {}
void txsync_sim_relax(void) { now += 10; }
uint64_t txsync_sim_cycles(void) { return now++; }
uint64_t txsync_sim_cycles_per_second(void) { return 1000000000; }
uint64_t txsync_sim_clock_ns(void) { return now++; }

int txsync_sim_thread_start(uintptr_t*, void (*)(void*), void*) { return 0; }
void txsync_sim_thread_join(uintptr_t) {}
uint32_t txsync_sim_thread_id(void) { return 1; }
int txsync_sim_at_thread_exit(void (*)(void*), void*) { return 1; }
void txsync_sim_yield(void) { now += 1000; }
void txsync_sim_sleep_ns(uint64_t duration) { now += duration; }
unsigned txsync_sim_cpu_count(void) { return 1; }
int txsync_sim_is_realtime(void) { return 0; }
uint32_t txsync_sim_fork_count(void) { return 0; }
int txsync_sim_pin(unsigned) { return 0; }
unsigned txsync_sim_capability(void) { return 0; }
unsigned txsync_sim_place(int, unsigned, unsigned) { return 0; }
void txsync_sim_phase(int) {}
void txsync_sim_complain(const char*, size_t) {}
uint64_t txsync_sim_seed(void) { return 1; }
unsigned txsync_sim_socket_count(void) { return 1; }
int txsync_sim_park(const void*, uint32_t, uint64_t) { return 0; }
unsigned txsync_sim_unpark(const void*, unsigned) { return 0; }

size_t txsync_sim_page_size(void) { return 4096; }
void* txsync_sim_map_pages(size_t bytes) { return calloc(1, bytes); }
void txsync_sim_unmap_pages(void* address, size_t) { free(address); }
void txsync_sim_discard_pages(void*, size_t) {}
void txsync_sim_populate_pages(void*, size_t) {}
void txsync_sim_map_pages_twice(size_t, void** both) { both[0] = both[1] = nullptr; }
int txsync_sim_protect_pages(void*, size_t, int) { return 0; }
void txsync_sim_on_fault(int (*)(void*, int, void*), void*) {}

}  // extern "C"
