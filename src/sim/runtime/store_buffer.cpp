// SPDX-License-Identifier: Apache-2.0
#include "store_buffer.hpp"

#include <cstring>

#include "access.hpp"

namespace txsync::sim {

constinit store_buffer* buffer_of_thread = nullptr;

namespace {

constexpr std::size_t widest = sizeof waiting_store::hidden;

store_buffer& buffer_of(const thread_record& thread) noexcept { return buffer_of_thread[thread.id]; }

template <std::size_t bytes>
void swap_bytes(waiting_store& store) noexcept {
  std::uint8_t here[bytes];
  auto* memory = reinterpret_cast<std::uint8_t*>(store.address);
  std::memcpy(here, memory, bytes);
  std::memcpy(memory, store.hidden, bytes);
  std::memcpy(store.hidden, here, bytes);
}

void swap(waiting_store& store) noexcept {
  switch (store.bytes) {  // the sizes that hooks have
    case 1:
      return swap_bytes<1>(store);
    case 2:
      return swap_bytes<2>(store);
    case 4:
      return swap_bytes<4>(store);
    case 8:
      return swap_bytes<8>(store);
    case widest:
      return swap_bytes<widest>(store);
    default:
      break;
  }
  std::uint8_t here[widest];
  auto* memory = reinterpret_cast<std::uint8_t*>(store.address);
  std::memcpy(here, memory, store.bytes);
  std::memcpy(memory, store.hidden, store.bytes);
  std::memcpy(store.hidden, here, store.bytes);
}

/// Newest first: each one uncovers what is below it.
void hide(store_buffer& buffer) noexcept {
  for (waiting_store* one = buffer.end(); one != buffer.begin();) swap(*--one);
  buffer.in_memory = false;
}

void show(store_buffer& buffer) noexcept {
  for (waiting_store& one : buffer) swap(one);
  buffer.in_memory = true;
}

void add(store_buffer& buffer, const waiting_store& store) noexcept {
  if (buffer.oldest + buffer.count == store_buffer::most) {
    std::memmove(buffer.stores, buffer.begin(), buffer.count * sizeof store);
    buffer.oldest = 0;
  }
  *buffer.end() = store;
  ++buffer.count;
}

void drop_oldest(store_buffer& buffer) noexcept {
  --buffer.count;
  buffer.oldest = buffer.count != 0 ? buffer.oldest + 1 : 0;
}

template <class Function>
void for_lines(const waiting_store& store, Function function) noexcept {
  const line_number first = state.lines.line_of(store.address);
  const line_number last = state.lines.line_of(store.address + store.bytes - 1);
  for (line_number line = first; line <= last; ++line) {
    function(line, line == first ? store.address : state.lines.address_of(line));
  }
}

/// An attempt cannot be undone on its own stack. So the store stays in its buffer, and the attempt ends because of what
/// is about to come.
void end_own_attempt_before(const waiting_store& store) noexcept {
  const thread_record& self = *state.current;
  if (self.tx.depth == 0) return;
  bool meets = false;
  for_lines(store, [&](line_number line, std::uintptr_t) {
    line_record& record = state.lines.record(line);
    meets = meets || record.writer_plus_one == self.cpu + 1 || state.lines.readers(record).has(self.cpu);
  });
  if (!meets || state.model.htm_conflicts == 0) return;
  abort_self({.why = cause::conflict, .address = store.address, .other_code = static_cast<std::uint32_t>(store.code)});
}

/// Whether no attempt runs. Then an access of the thread concerns no other thread, and what it lets out does not change
/// its own view of memory.
bool concerns_nobody() noexcept { return state.attempts == 0 && !state.traces; }

void count_lines(thread_record& thread, const waiting_store& store) noexcept {
  for_lines(store, [&](line_number, std::uintptr_t) {
    ++state.slow_accesses;
    charge(thread, 1);
  });
}

/// Whether a waiting store of the running thread overlaps with `store`.
bool is_hidden_by_running(const waiting_store& store) noexcept {
  for (const waiting_store& own : buffer_of(*state.current)) {
    if (own.address < store.address + store.bytes && store.address < own.address + own.bytes) return true;
  }
  return false;
}

/// Requires: the common view.
void let_out(thread_record& thread, const waiting_store& store) noexcept {
  const std::uintptr_t last_code = thread.last_code;
  thread.last_code = store.code;
  if (state.traces) trace(thread, store.code, step_kind::drains, store.address);
  for_lines(store, [&](line_number line, std::uintptr_t at) { slow_access<true>(thread, line, at); });
  note_write(thread, store.address, store.bytes);
  std::memcpy(reinterpret_cast<void*>(store.address), store.hidden, store.bytes);
  thread.last_code = last_code;
}

}  // namespace

void set_up_store_buffers() noexcept {
  buffer_of_thread = static_cast<store_buffer*>(reserve(0, max_threads * sizeof(store_buffer), "store buffers"));
}

bool buffer_store(thread_record& thread, std::uintptr_t address, std::size_t bytes) noexcept {
  const bool own_stack = address - thread.stack_low < stack_bytes;
  if (own_stack || thread.tx.depth != 0 || bytes > widest) {
    drain_own();
    return false;
  }
  check_address(thread, address, bytes, true);
  address = first_address_of(address);
  store_buffer& buffer = buffer_of(thread);
  if (buffer.count == store_buffer::most) drain_oldest(thread);
  waiting_store store{.address = address, .bytes = bytes, .code = thread.last_code, .hidden = {}};
  std::memcpy(store.hidden, reinterpret_cast<const void*>(address), bytes);
  add(buffer, store);
  buffer.in_memory = true;
  if (state.traces) trace(thread, thread.last_code, step_kind::buffers, address);
  charge(thread, 1);
  return true;
}

void drain_own() noexcept {
  if (!state.store_buffers || state.current == nullptr) return;
  thread_record& self = *state.current;
  store_buffer& buffer = buffer_of(self);
  if (buffer.count == 0) return;
  if (concerns_nobody()) {
    for (const waiting_store& one : buffer) count_lines(self, one);
    buffer.count = buffer.oldest = 0;
    return;
  }
  const common_view all;
  for (const waiting_store& one : buffer) let_out(self, one);
  buffer.count = buffer.oldest = 0;
}

void drain_oldest(thread_record& thread) noexcept {
  store_buffer& buffer = buffer_of(thread);
  waiting_store& store = *buffer.begin();
  if (concerns_nobody() && (&thread == state.current || !is_hidden_by_running(store))) {
    if (!buffer.in_memory) swap(store);
    count_lines(thread, store);
    return drop_oldest(buffer);
  }
  end_own_attempt_before(store);
  const common_view all;
  let_out(thread, store);
  drop_oldest(buffer);
}

void change_view(thread_record& before, thread_record& next) noexcept {
  if (buffer_of(before).in_memory) hide(buffer_of(before));
  show(buffer_of(next));
}

common_view::common_view() noexcept {
  if (!state.store_buffers || state.current == nullptr || !buffer_of(*state.current).in_memory) return;
  hidden_ = state.current;
  hide(buffer_of(*hidden_));
}

common_view::~common_view() {
  if (hidden_ != nullptr) show(buffer_of(*hidden_));
}

}  // namespace txsync::sim
