// SPDX-License-Identifier: Apache-2.0
// What the calling thread has learnt about attempts, and for glibc's rule what all threads have. The table is small.
// Locks share it by a hash of their address, as branches share a branch predictor. Two locks with the same entry spoil
// each other's history a little, and nothing ever has to be evicted.
#pragma once

#include <cstdint>

#include <txsync/policy/elision_policy.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

struct elision_history {
  std::uint16_t sections = 0;          ///< critical sections since, for the badness mask
  std::uint16_t badness = 0;           ///< a mask: 2^n-1 after n failures in a row
  std::uint8_t attempt_deficit = 0;    ///< how many attempts fewer than the policy's limit
  std::uint8_t commits = 0;            ///< in a row
  std::uint8_t coarsening_factor = 1;  ///< critical sections in one attempt (coarsening)
  std::uint8_t futile_waits = 0;       ///< sections in a row that waited as long as they may, up to max_futile_waits

  static constexpr std::uint8_t max_futile_waits = 4;
};

/// Outside attempts. Null if the system has no memory for it: then the lock is to be taken.
elision_history* elision_history_of(const void* lock) noexcept;
/// The same for a thread that runs an attempt or has just ended one: it has that memory.
elision_history& elision_history_in_attempt(const void* lock) noexcept;
/// Makes the calling thread forget all locks, as if it had just started. Also forgets what all threads have learnt
/// together (skip_after_failure). For tests that count attempts.
void forget_elision_history() noexcept;

/// Whether this critical section is to be tried in an attempt.
bool wants_attempt(elision_history& mine, const void* lock, const elision_policy& policy) noexcept;
/// How many attempts a critical section gets now.
std::uint32_t attempts_now(const elision_history& mine, const elision_policy& policy) noexcept;

void attempt_aborted(elision_history& mine, const elision_policy& policy) noexcept;
/// Why a critical section takes the lock after attempts.
enum class failure : std::uint8_t { busy, conflicts, hopeless };
void attempts_failed(elision_history& mine, const void* lock, const elision_policy& policy, failure why) noexcept;
void attempt_committed(elision_history& mine, const elision_policy& policy, unsigned sections) noexcept;
/// An attempt with several sections aborted. That says nothing about its first section.
void coarse_attempt_aborted(elision_history& mine, bool too_large) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail
