// SPDX-License-Identifier: Apache-2.0
// The heap that dmp divides, as programs see it.
#include <txsync/tm/heap.hpp>

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>

#include <txsync/locks/futex_mutex.hpp>

#include <txsync/machine/attempt.hpp>

#include "tm/partition/dmp.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm {

namespace detail {

namespace {

constexpr std::size_t min_bytes = std::size_t{64} << 20;  // that a heap is made with by itself
constinit futex_mutex making;                             // the heap, once

bool is_possible(const heap_options& options) noexcept {
  const std::size_t page = options.page_bytes;
  constexpr std::size_t most = std::size_t{1} << 46;
  return std::has_single_bit(page) && page >= machine::page_size() && page >= 4'096 && page <= room_bytes &&
         options.max_bytes != 0 && options.max_bytes <= most;
}

/// Once. False: the system refuses.
bool watch_forks() noexcept {
  static const bool watches = [] {
    try {
      static_cast<void>(runner::mine());  // its handlers come before those of the heap
      return copy_heap_at_forks();
    } catch (const std::bad_alloc&) {
      return false;
    }
  }();
  return watches;
}

std::size_t whole_rooms(std::size_t bytes) noexcept { return (bytes + room_bytes - 1) & ~(room_bytes - 1); }

}  // namespace

bool have_heap() noexcept {
  if (heap_pages.is_there()) return true;
  if (!machine::attempts_work()) return false;
  heap_options options;
  options.page_bytes = std::max(options.page_bytes, machine::page_size());
  for (; options.max_bytes >= min_bytes; options.max_bytes /= 2) {
    if (make_heap(options) || heap_pages.is_there()) return true;
  }
  return false;
}

void* take_in_heap(std::size_t bytes, unsigned memory_class) {
  runner& me = runner::mine();
  if (me.mode != run_mode::idle) refuse("an in_heap was made within an atomic block");
  static_cast<void>(have_heap());
  return take_unshared(me, bytes, memory_class);
}

void give_in_heap(void* object) noexcept { free_unshared(object, nullptr); }

}  // namespace detail

bool make_heap(const heap_options& options) noexcept {
  using detail::heap_pages;
  if (!detail::is_possible(options)) return false;
  if (heap_pages.is_there() || !detail::watch_forks()) return false;
  const std::lock_guard held(detail::making);
  return !heap_pages.is_there() && heap_pages.make(detail::whole_rooms(options.max_bytes), options.page_bytes);
}

heap_totals heap_now() noexcept {
  using detail::heap_pages;
  if (!heap_pages.is_there()) return {};
  // relaxed: both may just have become true
  return {.max_bytes = heap_pages.views.bytes,
          .page_bytes = heap_pages.page_bytes(),
          .used_bytes = detail::used_divided_rooms() * detail::room_bytes,
          .has_been_full = heap_pages.has_been_full.load(std::memory_order_relaxed),
          .is_refused = heap_pages.is_refused.load(std::memory_order_relaxed)};
}

bool is_in_heap(const void* address) noexcept { return detail::heap_pages.has(address); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm
