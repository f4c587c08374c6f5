// SPDX-License-Identifier: Apache-2.0
// dmp: which side may use a page of the heap. "The DMP paper" is: Raminhas, Issa and Romano, "Enhancing efficiency of
// hybrid transactional memory via dynamic data partitioning schemes". This is of its sections III and IV.
//
// The heap is mapped twice. Software uses the first addresses, where all is allowed. Hardware attempts use the second
// ones, whose rights change page by page:
//
// | Rights of attempts | What software may do  | Next state                                                        |
// |--------------------|-----------------------|-------------------------------------------------------------------|
// | read and write     | neither               | read: software reads the page. none: software writes it           |
// | read               | read                  | none: software writes it. read and write: an attempt writes it    |
// | none               | read and write        | read, or read and write: an attempt uses it, when no software     |
// |                    |                       | transaction that has written it runs any more                     |
//
// Software takes rights away before it accesses a page (withdraw()). An attempt whose access is refused aborts. Then its
// thread gets the rights (request()).
//
// Each grant of the right to write counts in the page's `grants`. Each grant of it, and each withdrawal of it, counts in
// the heap's `changes`. A software transaction that finds `changes` moved makes two checks:
//  - Was the right to write granted on a page that it has read? An attempt may then have changed what it has read.
//  - Is its own snapshot still valid? On a page that it had not read before, an attempt may have written what it had read
//    from a later commit of software.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/locks/futex_mutex.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/memory.hpp>

#include "tm/runner.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

enum class page_use : std::uint8_t { reads, writes };

/// Of one page, for all threads. Zeroed memory is a state.
struct page_state {
  /// What attempts may do there. Changes under the lock; others read it to see whether it has to change.
  std::atomic<machine::page_rights> rights{machine::page_rights::read_write};
  futex_mutex lock;  ///< without a site: it is taken in signal handlers
  std::atomic<std::uint64_t> grants{0};
};

/// Of one page, for one thread.
struct page_mark {
  /// Not 0: a transaction of the thread has written the page and has not ended. Others read it (request()).
  std::atomic<std::uint32_t> is_written{0};
  std::uint32_t read_by = 0;  ///< the number of the thread's transaction that has read it last
  std::uint64_t grants = 0;   ///< at the first of those reads
};

/// The pages of the heap. What is not atomic does not change once is_there().
struct partitioned_heap {
  /// Maps memory for `bytes`, a multiple of the page. False: the system has none. Not thread-safe.
  bool make(std::size_t bytes, std::size_t bytes_of_page) noexcept;
  /// For new objects in these pages: attempts get all rights, and both addresses get memory, since an attempt aborts
  /// where there is none.
  void prepare(void* first, std::size_t bytes) noexcept;
  /// For explorations, while no thread runs blocks: all rights are as in the beginning.
  void begin_anew() noexcept;

  /// acquire pairs with the release at the end of make()
  bool is_there() const noexcept { return made.load(std::memory_order_acquire); }
  bool has(const void* address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - views.begin < views.bytes;
  }
  std::uint32_t page_of(const void* address) const noexcept {
    return static_cast<std::uint32_t>((reinterpret_cast<std::uintptr_t>(address) - views.begin) >> page_shift);
  }
  /// Whether the address is one of those that attempts use.
  bool has_second(const void* address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - views.begin - views.distance < views.bytes;
  }
  std::uint32_t page_count() const noexcept { return static_cast<std::uint32_t>(views.bytes >> page_shift); }
  void* second_address_of(std::uint32_t page) const noexcept {
    return reinterpret_cast<void*>(views.begin + views.distance + (std::uintptr_t{page} << page_shift));
  }
  std::size_t page_bytes() const noexcept { return std::size_t{1} << page_shift; }

  /// In the child of a fork, once the mapping is new: attempts have the rights that are noted.
  void renew_rights() noexcept;

  std::atomic<bool> made{false};
  machine::double_mapping mapping{};
  std::size_t mapped_bytes = 0;
  two_views views{};  ///< what of the mapping is used
  unsigned page_shift = 0;
  page_state* pages = nullptr;
  /// How often the right to write was granted or withdrawn. Every software transaction reads it at every read.
  alignas(machine::pad_bytes) std::atomic<std::uint64_t> changes{0};
  /// Pages that attempts may not both read and write.
  std::atomic<std::uint32_t> restricted{0};
  /// Scouts that run (scout.hpp). An attempt that has written reads it last.
  alignas(machine::pad_bytes) std::atomic<std::uint64_t> scouts{0};
  /// Attempts that have written while scouts ran.
  alignas(machine::pad_bytes) std::atomic<std::uint64_t> hardware_writes{0};
  /// The system has refused a change of rights, which it does if the process has too many mappings. From then on all
  /// memory belongs to software.
  std::atomic<bool> is_refused{false};
  /// Objects of blocks may lie elsewhere, because the memory is full.
  std::atomic<bool> has_been_full{false};
};
extern constinit partitioned_heap heap_pages;

/// Whether a transaction has written the page that has not ended.
bool is_written_by_software(std::uint32_t page) noexcept;

/// The thread's marks, which are made at the first call. Throws std::bad_alloc.
page_mark* marks_of(runner& me);

/// By a software transaction, before it reads or writes the page. Afterwards attempts cannot write it, or, for a write,
/// use it at all. Attempts that have used it abort. Requires of writes: the thread's mark is set. Cost: a load if the
/// rights are so already, otherwise a system call. False: the system has refused.
[[nodiscard]] bool withdraw_slowly(std::uint32_t page, page_use why) noexcept;
[[nodiscard]] inline bool withdraw(std::uint32_t page, page_use why) noexcept {
  // acquire pairs with the release of a thread that has withdrawn the right to write: its count in `changes` is seen
  const machine::page_rights now = heap_pages.pages[page].rights.load(std::memory_order_acquire);
  if (now == machine::page_rights::none || (now == machine::page_rights::read && why == page_use::reads)) return true;
  return withdraw_slowly(page, why);
}

/// For an attempt that has aborted: gives attempts the right to use the page. False: a software transaction that has
/// written the page did not end in time, or the system has refused. May be called in a signal handler.
[[nodiscard]] bool request(std::uint32_t page, page_use why) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
