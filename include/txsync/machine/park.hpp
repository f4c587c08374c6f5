// SPDX-License-Identifier: Apache-2.0
// The seam: sleeping until woken.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

/// The deadline that never comes. A deadline is a value of clock_ns() at which park() gives up.
inline constexpr std::uint64_t no_deadline = ~std::uint64_t{0};

enum class park_result : std::uint8_t {
  woken,     ///< unpark() of this address, or a spurious return: the caller checks its condition again
  changed,   ///< the word did not hold `expected`; the thread did not sleep
  timed_out  ///< the deadline has passed
};

/// Sleeps while `word` holds `expected`, until unpark() of the same word or the deadline. The comparison and the start
/// of the sleep are one atomic step with respect to unpark(). For threads of one process only. Cost of a sleep and a
/// wake: 2..50 us.
TXSYNC_EXPORT park_result park(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                               std::uint64_t deadline_ns = no_deadline) noexcept;

/// The same on the high half of a lock_word (see restartable.hpp).
TXSYNC_EXPORT park_result park_high(const std::atomic<std::uint64_t>& word, std::uint32_t expected_high,
                                    std::uint64_t deadline_ns = no_deadline) noexcept;

/// The same on the low half.
TXSYNC_EXPORT park_result park_low(const std::atomic<std::uint64_t>& word, std::uint32_t expected_low,
                                   std::uint64_t deadline_ns = no_deadline) noexcept;

/// Wakes at most `count` threads that sleep on the word: higher real-time priorities first, then the oldest first.
/// Returns how many it woke. It reads nothing at the address, so the word need not exist any more. (If the address is
/// in use for another word, its waiters see a spurious return.) About 0.3..1 us.
TXSYNC_EXPORT unsigned unpark(const std::atomic<std::uint32_t>& word, unsigned count) noexcept;
TXSYNC_EXPORT unsigned unpark_high(const std::atomic<std::uint64_t>& word, unsigned count) noexcept;
TXSYNC_EXPORT unsigned unpark_low(const std::atomic<std::uint64_t>& word, unsigned count) noexcept;
inline constexpr unsigned everyone = 0x7FFFFFFF;

/// park() and unpark() between processes: the word lies in memory that they share, at any address in each.
TXSYNC_EXPORT park_result park_shared(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                                      std::uint64_t deadline_ns = no_deadline) noexcept;
TXSYNC_EXPORT unsigned unpark_shared(const std::atomic<std::uint32_t>& word, unsigned count) noexcept;

/// The clock of a deadline of park_cancelably(). `realtime` follows the system's date when that is set.
enum class wait_clock : std::uint8_t { monotonic, realtime };

/// park() for a thread that can be cancelled (POSIX 2.9.5). If it is cancelled before or while it sleeps here, with
/// cancellation enabled, clean_up(argument) is called and the thread ends. Callers must let the thread unwind through
/// them: no noexcept function that is compiled with exceptions may stand in between.
TXSYNC_EXPORT park_result park_cancelably(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                                          wait_clock clock, std::uint64_t deadline_ns, void (*clean_up)(void*),
                                          void* argument);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
