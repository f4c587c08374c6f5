// SPDX-License-Identifier: Apache-2.0
// Data races of a program that is explored. Two accesses to the same bytes by two threads race if one writes, one is not
// atomic, and no synchronization orders them. Happens-before is by vector clocks: each thread has a clock for each
// thread. A last access has one time only (epochs: Flanagan and Freund, PLDI 2009). An atomic that releases hands its
// thread's clocks to the atomic's memory. One that acquires takes them from there. The locks of the library are made of
// atomics, so they need no rules of their own.
//
// Not seen: races where a thread has accessed volatile memory, which counts as atomic and relaxed. There are none after
// a hardware transaction, which may order accesses in a way that this does not know.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fiber.hpp"

namespace txsync::sim {

/// Before the first access of a program whose races are looked for. For each race found(code, code of the access before)
/// is called; if it is null, the run ends with a message.
void set_up_races(void (*found)(std::uintptr_t code, std::uintptr_t other) noexcept) noexcept;
/// The same again, for the next of several schedules in this process: nothing was accessed yet. Requires: one thread.
void begin_schedule_of_races(void (*found)(std::uintptr_t code, std::uintptr_t other) noexcept) noexcept;
/// False if there are too many threads or atomics, or hardware transactions.
bool finds_races() noexcept;

/// What an atomic operation does to its memory.
enum class atomic_kind : std::uint8_t { load, store, modify };

/// How the running thread makes its next access. `order` is that of C++, as compilers number them.
struct atomic_access {
  bool is_atomic = false;
  atomic_kind kind = atomic_kind::load;
  int order = 0;
};
extern constinit atomic_access next_access_is;
inline constexpr int relaxed = 0;

void fence_orders(int order) noexcept;

/// An access of the library: it may order others, but is not looked at itself.
void synchronize(const thread_record& thread, std::uintptr_t address, const atomic_access& how) noexcept;
/// An access of the program: looks for a race.
void check_race(const thread_record& thread, std::uintptr_t address, std::size_t bytes, bool write, std::uintptr_t code,
                const atomic_access& how) noexcept;

/// The memory is handed out anew.
void forget_accesses(std::uintptr_t address, std::size_t bytes) noexcept;

void begins_after(const thread_record& child, const thread_record& parent) noexcept;
void goes_on_after(const thread_record& thread, const thread_record& ended) noexcept;

}  // namespace txsync::sim
