// SPDX-License-Identifier: Apache-2.0
// The blocks of counters as others see them: where they come from, and how another process reads them. A program under
// `txsync run` counts in a file that the launcher reads.
#pragma once

#include <cstddef>
#include <cstdint>

#include <txsync/observe/counters.hpp>

#include "turns.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// A value that two builds must have in common to read each other's blocks.
std::uint64_t block_layout() noexcept;
/// The size of a thread's block. Most of it is never touched: a site's part is written only if the site is counted.
std::size_t block_bytes() noexcept;
/// The size of the block's beginning that holds the counters of the sites up to `sites`.
std::size_t block_bytes_up_to(std::uint32_t sites) noexcept;

/// Where the blocks of the process come from.
struct block_source {
  struct taken {
    void* begin = nullptr;     ///< null: there is none
    std::uint32_t number = 0;  ///< for map()
  };
  /// Returns a block that nobody uses: its first `bytes`, or all of block_bytes() if map is null. It is zeroed, or its
  /// process has ended and its counts stay. Thread-safe. None of these functions is called inside an attempt.
  taken (*take)(std::size_t bytes) noexcept;
  /// Returns the bytes of a block from `begin` to `end`, or null. If map itself is null, take() gives all bytes.
  void* (*map)(std::uint32_t number, std::size_t begin, std::size_t end) noexcept;
  /// Makes sure that the bytes can be written, which a page of a file on a full disk cannot. False: nothing is counted
  /// there.
  bool (*reserve)(void* begin, std::size_t bytes) noexcept;
};

/// Requires: nothing has been counted yet; called at most once; `source` lives for ever.
void use_blocks_of(const block_source& source) noexcept;

/// For the child of a fork whose blocks are shared with its parent. The calling thread must be the only one. It takes a
/// new block when it next has something to count.
void forget_blocks() noexcept;

/// Adds the counts of a block: those of site i to totals[i - 1], for i up to `count`. Names stay as they are. The
/// block's thread may be running; each number was true at some time within the call. Cost: sites times 0.3 us.
void add_block(const void* block, site_totals* totals, std::uint32_t count) noexcept;

/// Adds what all threads of this process counted about one site's speculation, as snapshot() does for all sites.
void add_speculation(std::uint32_t site_id, attempt_totals& attempts, transaction_totals& transactions) noexcept;

/// The thread that counts in the block, or counted in it last, by machine::thread_id().
std::uint32_t thread_in(const void* block) noexcept;

/// What the block's thread did at a site.
thread_turns turns_in(const void* block, std::uint32_t site_id) noexcept;

/// A wait that had not ended.
struct unfinished_wait {
  std::uint32_t site_id = 0;  ///< 0: there was no wait
  std::uint64_t ns = 0;
};
/// The wait of the block's thread, up to end_of_process(). If that was not called, the wait counts up to `now` in
/// machine::cycles(). `now` is 0 if the end of the process is unknown; then the wait is left out.
unfinished_wait unfinished_in(const void* block, std::uint64_t now) noexcept;

void add(site_totals& total, const unfinished_wait& wait) noexcept;

/// The sum of several waits.
struct wait_sum {
  std::uint64_t waits = 0, ns = 0;
};
/// Does what detail::waited() and detail::wait_timed_out() do. Also adds the wait to a sum of the calling thread and
/// the site. If that sum reaches `full_at` nanoseconds, returns it and starts a new one; otherwise returns zeros. The
/// sums stay in the block, so that short-lived threads fill them together. `full_at` 0: nothing is added.
wait_sum waited(std::uint32_t site_id, const void* lock, std::uint64_t cycles, std::uint64_t full_at) noexcept;
wait_sum wait_timed_out(std::uint32_t site_id, const void* lock, std::uint64_t cycles, std::uint64_t full_at) noexcept;
/// The same for waits of other threads that the calling thread caused. Counts nothing.
wait_sum held_up(std::uint32_t site_id, std::uint64_t waits, std::uint64_t cycles, std::uint64_t full_at) noexcept;

/// Makes each acquisition a sample from now on. When a timed hold ends, the thread that still has the lock calls
/// `watching`; for nested holds, only for the outermost. Times are in machine::cycles(). Requires: nothing was counted
/// before.
using hold_watcher = void (*)(std::uint32_t site_id, const void* lock, std::uint64_t since, std::uint64_t cycles);
void watch_holds(hold_watcher watching) noexcept;

/// Marks the end of the process, which also ends the waits of its threads.
void end_of_process() noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
