// SPDX-License-Identifier: Apache-2.0
// The seam: giving a lock up without an atomic instruction.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

/// A lock word for release_unless_waited(). Bits 0..7: 1 if the lock is taken, else 0. Bits 8..15 belong to the holder.
/// Bits 16..31 are free for the lock's use. The high 32 bits, read as a signed number, say how many threads want to be
/// woken at a release (none if <= 0).
using lock_word = std::atomic<std::uint64_t>;

/// Gives the lock up as one atomic step. If the high half of `word`, as a signed number, is greater than zero, it
/// returns false and stores nothing. Otherwise it stores `value` to the low 16 bits with release order, and returns
/// true. After true it does not access the word again, so another thread may lock, unlock and destroy it at once.
///
/// Requires: only the holder of the lock changes the low 16 bits while they are not free. Other threads change the word
/// only by atomic read-modify-writes.
///
/// Contract with waiters: a thread that raises the high half above zero may need every later release to see that. It
/// then calls membarrier_releases() before it looks at the low bits again.
///
/// Cost: on Linux with rseq four plain stores and loads, no bus lock (6 cycles against 18 for an exchange); elsewhere a
/// compare-exchange. It may return false without a waiter if the thread was interrupted: callers then take their slow
/// path, which uses an ordinary atomic operation.
[[gnu::always_inline]] inline bool release_unless_waited(lock_word& word, std::uint16_t value) noexcept;

/// Sets bits 0..7 to 1. True: they were 0. Acquires what release_unless_waited() has released.
/// Cost: one atomic read-modify-write. On x86-64 it accesses only these 8 bits. An access to all 64 bits would wait
/// until the last release's narrower store has left the store buffer (3.5..5.7 ns on Zen 4).
[[gnu::always_inline]] inline bool take_if_free(lock_word& word) noexcept;

/// Whether bits 0..7 are not 0, relaxed. Cost: a load of these 8 bits.
[[gnu::always_inline]] inline bool is_taken(const lock_word& word) noexcept;

/// Bits 8..15, relaxed. Cost: a load of these 8 bits. take_if_free() does not write them, so the load need not wait for
/// it.
[[gnu::always_inline]] inline std::uint32_t holders_byte(const lock_word& word) noexcept;

/// Waits for releases that read their word before the call, in any thread of this process. When this returns, each such
/// release_unless_waited() has finished or will read its word again. If it has stored, the store is visible to the
/// caller.
/// Cost: 2..10 us and one interrupt on every CPU that runs a thread of this process. Only threads that are about to
/// sleep call it. If releases are atomic instructions, it is a plain fence.
TXSYNC_EXPORT void membarrier_releases() noexcept;
[[deprecated("membarrier_releases")]] inline void settle_releases() noexcept { membarrier_releases(); }

/// True if release_unless_waited() works without a locked instruction.
TXSYNC_EXPORT bool releases_are_restartable() noexcept;

namespace detail {

/// release_unless_waited() by a compare-exchange, for back ends that have nothing better.
inline bool release_by_exchange(lock_word& word, std::uint16_t value) noexcept {
  std::uint64_t seen = word.load(std::memory_order_relaxed);
  do {
    if (static_cast<std::int64_t>(seen) >= std::int64_t{1} << 32) return false;
    // release pairs with the acquire of the next owner's read-modify-write of this word
  } while (!word.compare_exchange_weak(seen, (seen & ~std::uint64_t{0xFFFF}) | value, std::memory_order_release,
                                       std::memory_order_relaxed));
  return true;
}

/// take_if_free(), is_taken() and holders_byte() by instructions for all 64 bits, for the same back ends.
inline bool take_whole_if_free(lock_word& word) noexcept {
  // acquire pairs with the release of release_unless_waited()
  return (word.fetch_or(1, std::memory_order_acquire) & 1) == 0;
}
// relaxed, both: as is_taken() and holders_byte() promise
inline bool is_whole_taken(const lock_word& word) noexcept {
  return (word.load(std::memory_order_relaxed) & 0xFF) != 0;
}
inline std::uint32_t holders_byte_of_whole(const lock_word& word) noexcept {
  return static_cast<std::uint8_t>(word.load(std::memory_order_relaxed) >> 8);
}

}  // namespace detail

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

#include <txsync_backend/restartable.hpp>
