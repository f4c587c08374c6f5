// SPDX-License-Identifier: Apache-2.0
// An access while exploring: a scheduling point, and then the same as in the order of time, but without caches. Most
// schedules have no attempt at all, or none now; then an access concerns no other thread.
#include <utility>

#include "access.hpp"
#include "exploration.hpp"
#include "held_locks.hpp"
#include "program_steps.hpp"

namespace txsync::sim {

namespace {

bool is_simple(std::uintptr_t address, std::size_t bytes) noexcept {
  return !state.guards_pages && !state.oracle && address + bytes <= program_end;
}

/// Whether the access would end no attempt of another thread, and the line is already in the set of the thread's own
/// attempt.
template <bool write>
bool is_settled(const thread_record& thread, std::uintptr_t address, std::size_t bytes) noexcept {
  const line_number line = state.lines.line_of(address);
  if (line != state.lines.line_of(address + bytes - 1) || thread.tx.suspended || state.model.htm_read_filter != 0) {
    return false;
  }
  line_record& record = state.lines.record(line);
  const bool is_own = record.writer_plus_one == thread.cpu + 1;
  if (record.writer_plus_one != 0 && !is_own) return false;
  const bit_set readers = state.lines.readers(record);
  if (thread.tx.depth == 0) return !write || readers.empty();
  if (state.probes != 0) return false;
  return write ? is_own && (readers.empty() || readers.only(thread.cpu)) : is_own || readers.has(thread.cpu);
}

/// Whether a write must be noted. A thread's own stack is restored as a whole after an attempt. Other threads' attempts
/// need to know of writes to their stacks only.
bool needs_note(const thread_record& thread, std::uintptr_t address) noexcept {
  if (address - thread.stack_low < stack_bytes) return thread.tx.elided_count != 0;
  return thread.tx.depth != 0 || address >= stacks_begin;
}

void count_lines(thread_record& thread, std::uintptr_t address, std::size_t bytes) noexcept {
  const std::uint64_t lines = ((address + bytes - 1) >> state.line_shift) - (address >> state.line_shift) + 1;
  state.slow_accesses += lines;
  charge(thread, lines);
}

/// The step of an access that the order looks at, or that may be a fault of the program. A program's access may be none.
/// The step of a call that takes a lock is an access to the lock, whatever the call accesses first.
[[gnu::noinline]] void step_with_a_look(thread_record& thread, byte_range what, bool write,
                                        std::uintptr_t code) noexcept {
  const atomic_access how = std::exchange(next_access_is, {});
  if (write && state.follows_program) writes_in_program();
  if (state.follows_program && !is_step_of_program(thread, what.from, what.bytes, write, code, how.is_atomic)) {
    pass_without_step();
  } else if (state.follows_program && is_library_code(code) && asks_for_lock(thread)) {
    explored_step_at(thread, asked_word(thread), !asks_for_reading(thread));
  } else {
    explored_step_at(thread, what, write);
  }
  if (state.follows_program) find_faults(thread, what.from, what.bytes, write, code, how);
}

}  // namespace

template <bool write, bool may_wait>
void explored_access(std::uintptr_t used_address, std::size_t bytes, std::uintptr_t code) noexcept {
  thread_record& thread = *state.current;
  const std::uintptr_t address = first_address_of(used_address);
  thread.last_code = code;
  if (state.oracle) oracle_settle();
  if (__builtin_expect(state.looks_at_accesses, 0)) {
    step_with_a_look(thread, {address, bytes}, write, code);
  } else {
    explored_step();
  }
  if constexpr (write) {
    if (state.store_buffers) {
      if (may_wait && buffer_store(thread, used_address, bytes)) return;
      drain_own();
    }
  }
  if (state.traces) trace_access(thread, code, {address, bytes}, write);
  if (used_address == address && is_simple(address, bytes)) {
    if (state.attempts == 0) return count_lines(thread, address, bytes);
    if (is_settled<write>(thread, address, bytes)) {
      count_lines(thread, address, bytes);
      if (write && needs_note(thread, address)) note_write(thread, address, bytes);
      return;
    }
  }
  check_access<write>(thread, used_address, bytes);
}

template void explored_access<false, false>(std::uintptr_t used_address, std::size_t bytes,
                                            std::uintptr_t code) noexcept;
template void explored_access<true, false>(std::uintptr_t used_address, std::size_t bytes,
                                           std::uintptr_t code) noexcept;
template void explored_access<true, true>(std::uintptr_t used_address, std::size_t bytes, std::uintptr_t code) noexcept;

}  // namespace txsync::sim
