// SPDX-License-Identifier: Apache-2.0
// The blocks of counters from the outside: where they come from, and how somebody else reads them (a program under
// `txsync run` counts in a file that the launcher reads).
#pragma once

#include <cstddef>
#include <cstdint>

#include <txsync/observe/counters.hpp>

#include "turns.hpp"

namespace txsync::inline TXSYNC_BACKEND::observe {

/// What two builds have to agree in to read each other's blocks.
std::uint64_t block_layout() noexcept;
/// The size of a thread's block. Most of it is never touched: the part of a site is written when that site is counted.
std::size_t block_bytes() noexcept;
/// Of its first bytes, those that hold the counters of the sites up to `sites`.
std::size_t block_bytes_up_to(std::uint32_t sites) noexcept;

/// Where the process' blocks come from.
struct block_source {
  struct taken {
    void* begin = nullptr;     ///< null: there is none
    std::uint32_t number = 0;  ///< for map()
  };
  /// A block that nobody uses: its first `bytes`, or all of block_bytes() where map is null. It is zeroed, or was
  /// another process' that has ended, whose counts stay. Thread-safe. Not called inside an attempt, nor are the others.
  taken (*take)(std::size_t bytes) noexcept;
  /// The bytes of a block from `begin` to `end`, or null. Null: take() gives them all.
  void* (*map)(std::uint32_t number, std::size_t begin, std::size_t end) noexcept;
  /// Makes sure that the bytes can be written (a page of a file on a full disk cannot). False: nothing is counted
  /// there.
  bool (*reserve)(void* begin, std::size_t bytes) noexcept;
};

/// Requires: called before anything is counted, at most once; `source` lives for ever.
void use_blocks_of(const block_source& source) noexcept;

/// For the child of a fork whose blocks are shared with its parent: the calling thread, the only one, takes a new block
/// when it has something to count.
void forget_blocks() noexcept;

/// Adds what a block has counted: of site i to totals[i - 1], for i up to `count`. The names are not touched. The block
/// may be of a thread that runs; each number is one that was true within the call. Cost: sites times 0.3 us.
void add_block(const void* block, site_totals* totals, std::uint32_t count) noexcept;

/// Adds what all threads of this process counted of one site's speculation, as snapshot() does of all sites.
void add_speculation(std::uint32_t site_id, attempt_totals& attempts, transaction_totals& transactions) noexcept;

/// The thread that counts in the block, or did last, by machine::thread_id().
std::uint32_t thread_in(const void* block) noexcept;

/// What the block's thread did at a site.
thread_turns turns_in(const void* block, std::uint32_t site_id) noexcept;

/// A wait that had not ended.
struct unfinished_wait {
  std::uint32_t site_id = 0;  ///< 0: there was none
  std::uint64_t ns = 0;
};
/// The wait of the block's thread, up to end_of_process(), or if that was not called up to `now` in machine::cycles().
/// `now` is 0 if the end of the process is unknown; then the wait is left out.
unfinished_wait unfinished_in(const void* block, std::uint64_t now) noexcept;

void add(site_totals& total, const unfinished_wait& wait) noexcept;

/// Waits that have been added up.
struct wait_sum {
  std::uint64_t waits = 0, ns = 0;
};
/// As detail::waited() and detail::wait_timed_out(). Besides adds the wait to a sum of the calling thread and the site,
/// and answers what it has come to where that is `full_at` nanoseconds or more; the sum then begins anew. Else all
/// zero. The sums stay in the block, so that short-lived threads fill them together. `full_at` 0: nothing is added.
wait_sum waited(std::uint32_t site_id, const void* lock, std::uint64_t cycles, std::uint64_t full_at) noexcept;
wait_sum wait_timed_out(std::uint32_t site_id, const void* lock, std::uint64_t cycles, std::uint64_t full_at) noexcept;
/// Likewise for waits of others that the calling thread has caused. Counts nothing.
wait_sum held_up(std::uint32_t site_id, std::uint64_t waits, std::uint64_t cycles, std::uint64_t full_at) noexcept;

/// From now on each acquisition is a sample, and `told` is called when a timed hold ends, by the thread that still has
/// the lock: of nested holds the outermost. Times in machine::cycles(). Requires: called before anything is counted.
using hold_watcher = void (*)(std::uint32_t site_id, const void* lock, std::uint64_t since, std::uint64_t cycles);
void watch_holds(hold_watcher told) noexcept;

/// The process ends, and with it the waits of its threads.
void end_of_process() noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::observe
