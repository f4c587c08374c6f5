// SPDX-License-Identifier: Apache-2.0
// The blocks of counters from the outside: where they come from, and how somebody else reads them (a program under
// `txsync run` counts in a file that the launcher reads).
#pragma once

#include <cstddef>
#include <cstdint>

#include <txsync/observe/counters.hpp>

#include "turns.hpp"

namespace txsync::inline TXSYNC_BACKEND::observe {

/// The size of a thread's block. Most of it is never touched: the part of a site is written when that site is counted.
std::size_t block_bytes() noexcept;

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

/// The process ends, and with it the waits of its threads.
void end_of_process() noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::observe
