// SPDX-License-Identifier: Apache-2.0
// The code that every access of the program goes through. The order is fixed: others may run first. Then come
// conflicts, undo log and cost. Then the program does the access itself, with no switch in between.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attempts.hpp"
#include "coherence.hpp"
#include "failure.hpp"
#include "oracle.hpp"
#include "pages.hpp"
#include "program_steps.hpp"
#include "schedule.hpp"
#include "signals.hpp"
#include "state.hpp"
#include "store_buffer.hpp"
#include "switching.hpp"
#include "traces.hpp"

namespace txsync::sim {

[[gnu::cold, gnu::noinline]] inline void refuse_unknown(std::uintptr_t address, bool write) noexcept {
  const attempt& tx = state.current->tx;
  if (tx.depth != 0 && !tx.suspended) abort_self({.why = cause::fault, .address = first_address_of(address)});
  land_after_fault(*state.current);
  line_text line;
  line << "the program " << (write ? "writes " : "reads ");
  fail(line.hexadecimal(address) << ", which is memory that the simulation does not know");
}

inline void check_known(std::uintptr_t address, std::size_t bytes, bool write) noexcept {
  const std::uintptr_t first = first_address_of(address);
  if (first + bytes > program_end || first + bytes < first || (first != address && !has_second_view(first))) {
    refuse_unknown(address, write);
  }
}

/// What an access may do by its address: whether it is known, allowed, and of a page that is there.
inline void check_address(thread_record& thread, std::uintptr_t address, std::size_t bytes, bool write) noexcept {
  check_known(address, bytes, write);
  if (state.guards_pages) settle_rights(thread, address, bytes, write);
}

/// Handles an access that the running thread's filter can answer at once: a hit in the L1 that concerns no other.
template <bool write>
[[gnu::always_inline]] inline bool hit(thread_record& thread, std::uintptr_t address, std::size_t bytes) noexcept {
  const auto line = static_cast<line_number>(address >> state.line_shift);
  const line_filter* filter = state.filter;
  const bool one_line = (address + bytes - 1) >> state.line_shift == line;
  if (!one_line || filter == nullptr || !(write ? filter->may_write(line) : filter->may_read(line))) return false;
  thread.time += state.access_cost;
  ++state.hits;
  if constexpr (write) {
    if (__builtin_expect(state.logs_writes || address >= stacks_begin, 0)) note_write(thread, address, bytes);
  }
  return true;
}

/// The access itself, without a scheduling point.
template <bool write>
void check_access(thread_record& thread, std::uintptr_t address, std::size_t bytes) noexcept {
  check_address(thread, address, bytes, write);
  const bool by_second_view = is_in_second_view(address);
  if (by_second_view) {  // no filter answers for that address
    if (!exploring()) enter_page(thread, address);
    address = first_address_of(address);
    if (hit<write>(thread, address, bytes)) return;
  }
  const auto first = static_cast<line_number>(address >> state.line_shift);
  const auto last = static_cast<line_number>((address + bytes - 1) >> state.line_shift);
  for (line_number line = first; line <= last; ++line) {
    const std::uintptr_t at = line == first ? address : state.lines.address_of(line);
    slow_access<write>(thread, line, at, by_second_view);
  }
  if constexpr (write) note_write(thread, address, bytes);
  if (state.oracle) write ? oracle_write(thread, address, bytes) : oracle_read(thread, address, bytes);
}

/// What a function of a library does to memory on the program's behalf. No other thread runs in between.
template <bool write>
void library_access(const void* place, std::size_t bytes) noexcept {
  if (bytes == 0) return;
  const auto address = reinterpret_cast<std::uintptr_t>(place);
  if (state.charged == nullptr) return touch_uncharged(address, bytes);
  if (state.follows_program) touches_for_program(*state.charged, first_address_of(address), bytes, write);
  check_access<write>(*state.charged, address, bytes);
}

/// An access while exploring, where every access is a scheduling point. With `may_wait`, a write may wait in a store
/// buffer.
template <bool write, bool may_wait>
void explored_access(std::uintptr_t used_address, std::size_t bytes, std::uintptr_t code) noexcept;

template <bool write, bool may_wait>
[[gnu::noinline]] void access_slow_path(std::uintptr_t address, std::size_t bytes, std::uintptr_t code) noexcept {
  if (__builtin_expect(exploring(), 0)) return explored_access<write, may_wait>(address, bytes, code);
  state.current->last_code = code;
  if (state.oracle) oracle_settle();
  if (state.current->time >= state.limit) {
    const line_filter* filter = state.filter;
    if (filter != nullptr && !filter->may_read(state.lines.line_of(address)))
      prefetch_metadata(*state.current, first_address_of(address));
    let_first_run();
  }
  thread_record& thread = *state.current;
  if (state.traces) trace_access(thread, code, {first_address_of(address), bytes}, write);
  if (hit<write>(thread, address, bytes)) return;
  return check_access<write>(thread, address, bytes);
}

/// One access of 1 to 16 bytes. A write may wait in a store buffer if it is neither a read-modify-write nor
/// sequentially consistent.
template <bool write, bool may_wait = false>
[[gnu::always_inline]] inline void access(const volatile void* place, std::size_t bytes, std::uintptr_t code) noexcept {
  thread_record* thread = state.charged;
  const auto address = reinterpret_cast<std::uintptr_t>(place);
  if (__builtin_expect(thread == nullptr, 0)) return touch_uncharged(address, bytes);
  if (__builtin_expect(thread->time < state.hit_limit, 1) && hit<write>(*thread, address, bytes)) return;
  access_slow_path<write, may_wait>(address, bytes, code);
}

}  // namespace txsync::sim
