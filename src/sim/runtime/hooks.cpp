// SPDX-License-Identifier: Apache-2.0
// The hooks that code compiled with -fsanitize=thread calls before each plain access, and instead of each atomic one.
#include <cstring>

#include "access.hpp"
#include "elision.hpp"
#include "exploration.hpp"
#include "failure.hpp"
#include "probes.hpp"
#include "program_steps.hpp"

namespace txsync::sim {

namespace {

// The order of a C++ atomic, as compilers pass it.
constexpr int sequentially_consistent = 5;
// Intel's hints, which GCC adds to it (__ATOMIC_HLE_ACQUIRE, __ATOMIC_HLE_RELEASE).
constexpr int acquires_by_prefix = 1 << 16;
constexpr int releases_by_prefix = 1 << 17;

// In cycles. Exploration is about orders, not times: a thread that spins for thousands of cycles before it sleeps has
// to get there within a few steps.
constexpr unsigned explored_pause = 500;

std::uintptr_t here(void* return_address) noexcept { return reinterpret_cast<std::uintptr_t>(return_address); }

void charge_current(std::uint64_t cycle_count) noexcept {
  if (state.charged != nullptr) charge(*state.charged, cycle_count);
}

void fence() noexcept {
  charge_current(state.model.core_fence);
  drain_own();
}

/// Misses after it do not overlap with misses before it.
void orders_misses() noexcept {
  if (state.current != nullptr) state.current->overlaps_until = 0;
}

/// The next access is an atomic one.
void is_atomic(atomic_kind kind, int order) noexcept {
  if (state.follows_program && state.charged != nullptr) next_access_is = {true, kind, order};
}

/// A read-modify-write: one access that writes.
template <class T>
void modify_at(volatile T* place, int order, std::uintptr_t code) noexcept {
  orders_misses();
  is_atomic(atomic_kind::modify, order);
  access<true>(place, sizeof(T), code);
  orders_misses();
  charge_current(state.model.core_atomic);
}

/// The hints of an exchange and a store. Other hints of GCC are ignored, which a hint allows.
template <class T>
[[gnu::always_inline]] inline T exchange(volatile T* place, T value, int order, std::uintptr_t code) noexcept {
  if constexpr (sizeof(T) <= 8) {
    if ((order & acquires_by_prefix) != 0)
      return static_cast<T>(acquire_by_prefix({reinterpret_cast<std::uintptr_t>(place), sizeof(T), code}, value));
  }
  modify_at(place, order, code);
  const T old = *place;
  *place = value;
  return old;
}

template <class T>
[[gnu::always_inline]] inline void store(volatile T* place, T value, int order, std::uintptr_t code) noexcept {
  if constexpr (sizeof(T) <= 8) {
    if ((order & releases_by_prefix) != 0)
      return release_by_prefix({reinterpret_cast<std::uintptr_t>(place), sizeof(T), code}, value);
  }
  is_atomic(atomic_kind::store, order);
  if (order == sequentially_consistent) {
    access<true>(place, sizeof(T), code);
    charge_current(state.model.core_fence);
  } else {
    access<true, true>(place, sizeof(T), code);
  }
  *place = value;
}

template <class T>
bool compare_exchange(volatile T* place, T* expected, T desired, int order, std::uintptr_t code, bool weak) noexcept {
  // `expected` is ordinary memory of the program: it is read first, and written if the exchange fails. Both have to be
  // one step with the exchange. The write after a failure is nearly always to the thread's own variable.
  access<false>(expected, sizeof(T), code);
  const T wanted = *expected;
  orders_misses();
  is_atomic(atomic_kind::modify, order);
  access<true>(place, sizeof(T), code);
  orders_misses();
  const T found = *place;
  if (found == wanted && !(weak && exchange_fails())) {
    charge_current(state.model.core_atomic);
    *place = desired;
    return true;
  }
  charge_current(state.model.core_atomic);
  if (state.charged != nullptr)
    check_access<true>(*state.charged, reinterpret_cast<std::uintptr_t>(expected), sizeof(T));
  *expected = found;
  return false;
}

}  // namespace

}  // namespace txsync::sim

using namespace txsync::sim;

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void* caller) {
  if (state.follows_program) enter_function(here(caller), here(__builtin_return_address(0)));
}
void __tsan_func_exit() {
  if (state.follows_program) leave_function(here(__builtin_return_address(0)));
}

#define TXSYNC_SIM_ACCESS(kind, size, before)                           \
  void __tsan_##kind##read##size(void* place) {                         \
    before(atomic_kind::load, relaxed);                                 \
    access<false>(place, size, here(__builtin_return_address(0)));      \
  }                                                                     \
  void __tsan_##kind##write##size(void* place) {                        \
    before(atomic_kind::store, relaxed);                                \
    access<true, true>(place, size, here(__builtin_return_address(0))); \
  }
#define TXSYNC_SIM_PLAIN(kind, order)
#define TXSYNC_SIM_ACCESSES(size)                       \
  TXSYNC_SIM_ACCESS(, size, TXSYNC_SIM_PLAIN)           \
  TXSYNC_SIM_ACCESS(unaligned_, size, TXSYNC_SIM_PLAIN) \
  TXSYNC_SIM_ACCESS(volatile_, size, is_atomic)         \
  TXSYNC_SIM_ACCESS(unaligned_volatile_, size, is_atomic)
TXSYNC_SIM_ACCESSES(1)
TXSYNC_SIM_ACCESSES(2)
TXSYNC_SIM_ACCESSES(4)
TXSYNC_SIM_ACCESSES(8)
TXSYNC_SIM_ACCESSES(16)

void __tsan_read_range(void* place, std::size_t bytes) {
  if (bytes == 0) return;
  if (state.charged == nullptr) return touch_uncharged(here(place), bytes);
  access_slow_path<false, false>(here(place), bytes, here(__builtin_return_address(0)));
}
void __tsan_write_range(void* place, std::size_t bytes) {
  if (bytes == 0) return;
  if (state.charged == nullptr) return touch_uncharged(here(place), bytes);
  access_slow_path<true, true>(here(place), bytes, here(__builtin_return_address(0)));
}
// A constructor may write the pointer that another thread reads, if it is the same.
void __tsan_vptr_update(void** place, void*) {
  is_atomic(atomic_kind::store, relaxed);
  access<true, true>(static_cast<void*>(place), 8, here(__builtin_return_address(0)));
}
void __tsan_vptr_read(void** place) {
  is_atomic(atomic_kind::load, relaxed);
  access<false>(static_cast<void*>(place), 8, here(__builtin_return_address(0)));
}

void __tsan_atomic_thread_fence(int order) {
  if (state.follows_program) fence_orders(order);
  if (order == sequentially_consistent) fence();
}
void __tsan_atomic_signal_fence(int) {}

// The type cannot be in parentheses here.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define TXSYNC_SIM_FETCH(bits, type, name, expression)                                   \
  type __tsan_atomic##bits##_fetch_##name(volatile type* place, type value, int order) { \
    modify_at(place, order, here(__builtin_return_address(0)));                          \
    const type old = *place;                                                             \
    *place = static_cast<type>(expression);                                              \
    return old;                                                                          \
  }
#define TXSYNC_SIM_ATOMIC(bits, type)                                                                                  \
  type __tsan_atomic##bits##_load(const volatile type* place, int order) {                                             \
    is_atomic(atomic_kind::load, order);                                                                               \
    access<false>(place, sizeof(type), here(__builtin_return_address(0)));                                             \
    orders_misses();                                                                                                   \
    return *place;                                                                                                     \
  }                                                                                                                    \
  void __tsan_atomic##bits##_store(volatile type* place, type value, int order) {                                      \
    store(place, value, order, here(__builtin_return_address(0)));                                                     \
  }                                                                                                                    \
  type __tsan_atomic##bits##_exchange(volatile type* place, type value, int order) {                                   \
    return exchange(place, value, order, here(__builtin_return_address(0)));                                           \
  }                                                                                                                    \
  TXSYNC_SIM_FETCH(bits, type, add, old + value)                                                                       \
  TXSYNC_SIM_FETCH(bits, type, sub, old - value)                                                                       \
  TXSYNC_SIM_FETCH(bits, type, and, old& value)                                                                        \
  TXSYNC_SIM_FETCH(bits, type, or, old | value)                                                                        \
  TXSYNC_SIM_FETCH(bits, type, xor, old ^ value)                                                                       \
  TXSYNC_SIM_FETCH(bits, type, nand, ~(old & value))                                                                   \
  bool __tsan_atomic##bits##_compare_exchange_strong(volatile type* place, type* expected, type desired, int order,    \
                                                     int) {                                                            \
    return compare_exchange(place, expected, desired, order, here(__builtin_return_address(0)), false);                \
  }                                                                                                                    \
  bool __tsan_atomic##bits##_compare_exchange_weak(volatile type* place, type* expected, type desired, int order,      \
                                                   int) {                                                              \
    return compare_exchange(place, expected, desired, order, here(__builtin_return_address(0)), true);                 \
  }                                                                                                                    \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type* place, type expected, type desired, int order, int) { \
    modify_at(place, order, here(__builtin_return_address(0)));                                                        \
    const type old = *place;                                                                                           \
    if (old == expected) *place = desired;                                                                             \
    return old;                                                                                                        \
  }
TXSYNC_SIM_ATOMIC(8, std::uint8_t)
TXSYNC_SIM_ATOMIC(16, std::uint16_t)
TXSYNC_SIM_ATOMIC(32, std::uint32_t)
TXSYNC_SIM_ATOMIC(64, std::uint64_t)
__extension__ using wide = unsigned __int128;
TXSYNC_SIM_ATOMIC(128, wide)

// NOLINTEND(bugprone-macro-parentheses)

// ---- what library functions are about to touch (program.h)

void txsync_sim_step(void) {
  if (state.charged == nullptr) return;
  state.current->last_code = here(__builtin_return_address(0));
  if (!state.follows_program || is_step_of_call(*state.current, state.current->last_code)) {
    scheduling_point();
  } else {
    pass_without_step();
  }
  drain_own();  // what a library function writes does not wait in a store buffer
}
void txsync_sim_reads(const void* address, std::size_t bytes) { library_access<false>(address, bytes); }
void txsync_sim_writes(void* address, std::size_t bytes) { library_access<true>(address, bytes); }

void txsync_sim_next_is_atomic(int what, int order) { is_atomic(static_cast<atomic_kind>(what), order); }

// ---- what assertions look at (runtime.h)

int txsync_sim_look_unseen(void) {
  if (state.charged == nullptr) return 0;
  state.looks_unseen = true;
  state.overlaps_before_look = state.charged->overlaps_until;
  state.charged = nullptr;
  return 1;
}
void txsync_sim_end_look(int began) {
  if (began == 0) return;
  state.charged = state.current;
  state.charged->overlaps_until = state.overlaps_before_look;
  state.looks_unseen = false;
}

// ---- hints of the seam (runtime.h)

void txsync_sim_prefetch(const void* address, int for_write) {
  const std::uintptr_t at = first_address_of(reinterpret_cast<std::uintptr_t>(address));
  if (state.charged == nullptr || at >= program_end) return;
  state.current->last_code = here(__builtin_return_address(0));
  scheduling_point();
  prefetch(*state.current, state.lines.line_of(at), for_write != 0);
}
void txsync_sim_fence(void) {
  if (state.follows_program) fence_orders(sequentially_consistent);
  fence();
  // A loop of fences is a wait, in which interrupts and other threads must get their turn. Exploration chooses at
  // accesses.
  if (state.current != nullptr && !exploring()) pausing_point();
}
void txsync_sim_relax(void) {
  if (state.current == nullptr) return;
  state.current->last_code = here(__builtin_return_address(0));
  if (state.model.htm_pause_aborts != 0) leave_attempt(cause::unfriendly_instruction);
  charge_current(exploring() ? explored_pause : state.model.core_pause);
  spun(*state.current);
  pausing_point();
}
std::uint64_t txsync_sim_cycles(void) {
  return (state.current != nullptr ? state.current->time : state.latest) / ticks_per_cycle;
}
std::uint64_t txsync_sim_cycles_per_second(void) { return std::uint64_t{state.model.core_mhz} * 1'000'000; }
std::uint64_t txsync_sim_clock_ns(void) {
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(txsync_sim_cycles()) * 1000 / state.model.core_mhz);
}

}  // extern "C"
