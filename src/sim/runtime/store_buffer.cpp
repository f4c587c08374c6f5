// SPDX-License-Identifier: Apache-2.0
#include "store_buffer.hpp"

#include <cstring>

#include "access.hpp"
#include "records.hpp"

namespace txsync::sim {

namespace {

constexpr std::size_t widest = 16;
constexpr unsigned most_waiting = 16;

struct waiting_store {
  std::uintptr_t address;
  std::size_t bytes;
  std::uintptr_t site;
  std::uint8_t hidden[widest];  ///< the thread's bytes while it does not run, and those beneath them while it does
};

struct store_buffer {
  waiting_store stores[most_waiting];  // oldest first
  unsigned count;
  bool in_memory;
};

constinit store_buffer* buffers = nullptr;  // by thread

store_buffer& buffer_of(const thread_record& thread) noexcept { return buffers[thread.id]; }

void swap(waiting_store& store) noexcept {
  std::uint8_t here[widest];
  auto* memory = reinterpret_cast<std::uint8_t*>(store.address);
  std::memcpy(here, memory, store.bytes);
  std::memcpy(memory, store.hidden, store.bytes);
  std::memcpy(store.hidden, here, store.bytes);
}

/// Newest first: each uncovers what lies beneath it.
void hide(store_buffer& buffer) noexcept {
  for (unsigned i = buffer.count; i-- != 0;) swap(buffer.stores[i]);
  buffer.in_memory = false;
}

void show(store_buffer& buffer) noexcept {
  for (unsigned i = 0; i < buffer.count; ++i) swap(buffer.stores[i]);
  buffer.in_memory = true;
}

template <class Function>
void for_lines(const waiting_store& store, Function function) noexcept {
  const line_number first = state.lines.line_of(store.address);
  const line_number last = state.lines.line_of(store.address + store.bytes - 1);
  for (line_number line = first; line <= last; ++line) {
    function(line, line == first ? store.address : state.lines.address_of(line));
  }
}

/// An attempt cannot be undone on its own stack: the store waits on, and the attempt ends of what is about to come.
void end_own_attempt_before(const waiting_store& store) noexcept {
  const thread_record& self = *state.current;
  if (self.tx.depth == 0) return;
  bool meets = false;
  for_lines(store, [&](line_number line, std::uintptr_t) {
    line_record& record = state.lines.record(line);
    meets = meets || record.writer_plus_one == self.cpu + 1 || state.lines.readers(record).has(self.cpu);
  });
  if (!meets || state.model.htm_conflicts == 0) return;
  abort_self({.why = cause::conflict, .address = store.address, .other_site = static_cast<std::uint32_t>(store.site)});
}

/// Requires: the common view.
void let_out(thread_record& thread, const waiting_store& store) noexcept {
  const std::uintptr_t last_site = thread.last_site;
  thread.last_site = store.site;
  if (state.traces) write_step(thread.id, store.site, "drains", store.address);
  for_lines(store, [&](line_number line, std::uintptr_t at) { visit(thread, line, at, true); });
  note_write(thread, store.address, store.bytes);
  std::memcpy(reinterpret_cast<void*>(store.address), store.hidden, store.bytes);
  thread.last_site = last_site;
}

}  // namespace

void set_up_store_buffers() noexcept {
  buffers = static_cast<store_buffer*>(reserve(0, most_threads * sizeof(store_buffer), "store buffers"));
}

bool buffer_store(thread_record& thread, std::uintptr_t address, std::size_t bytes) noexcept {
  const bool own_stack = address - thread.stack_low < stack_bytes;
  if (own_stack || thread.tx.depth != 0 || bytes > widest) {
    drain_own();
    return false;
  }
  check_known(address, bytes, true);
  if (state.guards_pages) settle_rights(thread, address, bytes, true);
  store_buffer& buffer = buffer_of(thread);
  if (buffer.count == most_waiting) drain_oldest(thread);
  waiting_store& store = buffer.stores[buffer.count++];
  store = {.address = address, .bytes = bytes, .site = thread.last_site, .hidden = {}};
  std::memcpy(store.hidden, reinterpret_cast<const void*>(address), bytes);
  buffer.in_memory = true;
  if (state.traces) write_step(thread.id, thread.last_site, "buffers", address);
  charge(thread, 1);
  return true;
}

void drain_own() noexcept {
  if (!state.store_buffers || state.current == nullptr) return;
  thread_record& self = *state.current;
  store_buffer& buffer = buffer_of(self);
  if (buffer.count == 0) return;
  const common_view all;
  for (unsigned i = 0; i < buffer.count; ++i) let_out(self, buffer.stores[i]);
  buffer.count = 0;
}

bool has_waiting_stores(const thread_record& thread) noexcept { return buffer_of(thread).count != 0; }

void drain_oldest(thread_record& thread) noexcept {
  store_buffer& buffer = buffer_of(thread);
  end_own_attempt_before(buffer.stores[0]);
  const common_view all;
  let_out(thread, buffer.stores[0]);
  --buffer.count;
  std::memmove(&buffer.stores[0], &buffer.stores[1], buffer.count * sizeof(waiting_store));
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
