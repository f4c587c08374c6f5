// SPDX-License-Identifier: Apache-2.0
#include "tm/partition/pages.hpp"

#include <bit>
#include <memory>
#include <mutex>
#include <new>

#include <txsync/machine/assert.hpp>
#include <txsync/machine/asymmetric.hpp>

#include "locks/backoff.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

using machine::page_rights;

constinit partitioned_heap heap_pages;

namespace {

constexpr std::uint64_t min_wait_cycles = 64;
constexpr std::uint64_t max_wait_ns = 200'000;  // for software transactions that have written the page

std::size_t whole_pages(std::size_t bytes) noexcept {
  return (bytes + machine::page_size() - 1) & ~(machine::page_size() - 1);
}

/// Takes all rights of attempts away. One mapping takes the place of many, so the system does not refuse that for want of
/// mappings.
bool give_all_to_software() noexcept {
  heap_pages.is_refused.store(true, std::memory_order_relaxed);  // relaxed: others may notice it late
  return machine::protect_pages(heap_pages.second_address_of(0), heap_pages.views.bytes, page_rights::none);
}

/// By the holder of the page's lock. False: the system has refused.
bool set_rights(std::uint32_t page, page_rights rights) noexcept {
  return machine::protect_pages(heap_pages.second_address_of(page), heap_pages.page_bytes(), rights);
}

}  // namespace

bool is_written_by_software(std::uint32_t page) noexcept {
  for (const runner* one = runner::first(); one != nullptr; one = one->next()) {
    // acquire: its marks were zeros when it published them
    const page_mark* const marks = one->page_marks.load(std::memory_order_acquire);
    // acquire pairs with the release at the end of a transaction: what it has stored or undone comes before
    if (marks != nullptr && marks[page].is_written.load(std::memory_order_acquire) != 0 && lives(*one)) return true;
  }
  return false;
}

bool partitioned_heap::make(std::size_t bytes, std::size_t bytes_of_page) noexcept {
  TXSYNC_ASSERT(!is_there() && std::has_single_bit(bytes_of_page) && bytes_of_page % machine::page_size() == 0 &&
                    bytes % bytes_of_page == 0,
                "the heap is made once, of whole pages of the system");
  const std::size_t count = bytes / bytes_of_page;
  void* const states = machine::map_pages(whole_pages(count * sizeof(page_state)));
  if (states == nullptr) return false;
  const std::size_t mapped = bytes + room_bytes;
  const machine::double_mapping both = machine::map_pages_twice(mapped);
  const auto first = reinterpret_cast<std::uintptr_t>(both.first);
  const std::uintptr_t begin = (first + room_bytes - 1) & ~(room_bytes - 1);
  if (both.first == nullptr || !divide_rooms(begin, bytes)) {
    machine::unmap_pages(states, whole_pages(count * sizeof(page_state)));
    for (void* const view : {both.first, both.second}) {
      if (view != nullptr) machine::unmap_pages(view, mapped);
    }
    return false;
  }
  pages = static_cast<page_state*>(states);
  page_shift = static_cast<unsigned>(std::countr_zero(bytes_of_page));
  mapping = both;
  mapped_bytes = mapped;
  views = {begin, bytes, reinterpret_cast<std::uintptr_t>(both.second) - first};
  has_been_full.store(bytes < room_bytes, std::memory_order_relaxed);  // relaxed: before the release
  made.store(true, std::memory_order_release);
  return true;
}

void partitioned_heap::prepare(void* first, std::size_t bytes) noexcept {
  const std::uint32_t end = page_of(static_cast<char*>(first) + bytes - 1) + 1;
  for (std::uint32_t page = page_of(first); page < end; ++page) {
    // relaxed: nobody uses the page
    if (pages[page].rights.load(std::memory_order_relaxed) != page_rights::read_write)
      static_cast<void>(request(page, page_use::writes));
  }
  machine::populate_pages(first, bytes);
  machine::populate_pages(static_cast<char*>(first) + views.distance, bytes);
}

void partitioned_heap::begin_anew() noexcept {
  for (std::uint32_t i = 0; i < page_count(); ++i) {
    if (pages[i].rights.load(std::memory_order_relaxed) != page_rights::read_write)  // relaxed: one thread
      static_cast<void>(set_rights(i, page_rights::read_write));
    new (&pages[i]) page_state;
  }
  restricted.store(0, std::memory_order_relaxed);  // relaxed: one thread
}

void partitioned_heap::renew_rights() noexcept {
  for (std::uint32_t i = 0; i < page_count(); ++i) {
    std::construct_at(&pages[i].lock);
    const page_rights rights = pages[i].rights.load(std::memory_order_relaxed);  // relaxed: one thread
    if (rights != page_rights::read_write && !set_rights(i, rights)) static_cast<void>(give_all_to_software());
  }
  if (is_refused.load(std::memory_order_relaxed)) static_cast<void>(give_all_to_software());
}

page_mark* marks_of(runner& me) {
  page_mark* marks = me.page_marks.load(std::memory_order_relaxed);  // relaxed: only this thread stores it
  if (marks != nullptr) [[likely]]
    return marks;
  // Zeroed pages are marks.
  void* const memory = machine::map_pages(whole_pages(heap_pages.page_count() * sizeof(page_mark)));
  if (memory == nullptr) throw std::bad_alloc();
  marks = static_cast<page_mark*>(memory);
  me.page_marks.store(marks, std::memory_order_release);  // pairs with is_written_by_software()
  return marks;
}

bool withdraw_slowly(std::uint32_t page, page_use why) noexcept {
  page_state& state = heap_pages.pages[page];
  const std::lock_guard guard(state.lock);
  // Another thread may have changed it. The paper does not look again here (Algorithm 1, lines 16 to 19 and 29 to 32). A
  // reader could then give attempts the right to read what another transaction is writing.
  const page_rights before = state.rights.load(std::memory_order_relaxed);        // relaxed: changes under the lock
  const bool is_refused = heap_pages.is_refused.load(std::memory_order_relaxed);  // relaxed: as where it is set
  page_rights wanted = why == page_use::reads && !is_refused ? page_rights::read : page_rights::none;
  if (before == page_rights::none || before == wanted) return true;
  if (!set_rights(page, wanted)) {
    if (!give_all_to_software()) return false;
    wanted = page_rights::none;
  }
  if (before == page_rights::read_write) {
    heap_pages.restricted.fetch_add(1, std::memory_order_relaxed);  // relaxed: a hint
    // Attempts have written the page until now. Whoever sees the new rights also sees the count.
    heap_pages.changes.fetch_add(1);
  }
  state.rights.store(wanted, std::memory_order_release);
  return true;
}

namespace {

/// By the holder of the page's lock. Attempts lack the right.
bool grant(page_state& state, std::uint32_t page, page_rights wanted) noexcept {
  const page_rights before = state.rights.load(std::memory_order_relaxed);
  // Software that marks the page from now on finds these rights, and waits for the lock. The fence pairs with its light
  // one, between its mark and its look at the rights.
  state.rights.store(wanted, std::memory_order_relaxed);
  machine::heavy_fence();
  if (is_written_by_software(page)) {
    state.rights.store(before, std::memory_order_relaxed);  // not always `none`, which the paper writes (line 57)
    return false;
  }
  if (wanted == page_rights::read_write) {
    state.grants.fetch_add(1);  // before attempts can write: software that sees what they write sees that
    heap_pages.changes.fetch_add(1);
  }
  if (set_rights(page, wanted)) {
    if (wanted == page_rights::read_write) heap_pages.restricted.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }
  state.rights.store(give_all_to_software() ? page_rights::none : before, std::memory_order_relaxed);
  return false;
}

}  // namespace

bool request(std::uint32_t page, page_use why) noexcept {
  const page_rights wanted = why == page_use::reads ? page_rights::read : page_rights::read_write;
  page_state& state = heap_pages.pages[page];
  const std::uint64_t deadline = machine::clock_ns() + max_wait_ns;
  txsync::detail::patient_spin waiting;
  for (;;) {
    // relaxed: a hint
    if (heap_pages.is_refused.load(std::memory_order_relaxed)) return false;
    if (!is_written_by_software(page)) {
      const std::lock_guard guard(state.lock);
      const page_rights now = state.rights.load(std::memory_order_relaxed);  // relaxed: changes under the lock
      if (now == page_rights::read_write || now == wanted || grant(state, page, wanted)) return true;
    }
    if (machine::clock_ns() >= deadline) return false;
    waiting.wait(min_wait_cycles);
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
