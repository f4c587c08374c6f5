// SPDX-License-Identifier: Apache-2.0
// What the calling thread has learnt of attempts, and for glibc's rule all threads. A small table that locks share by a
// hash of their address, as branch predictors do: two that fall together spoil each other's memory a little, and
// nothing ever has to be evicted.
#pragma once

#include <cstdint>

#include <txsync/policy/elision_policy.hpp>

namespace txsync::inline TXSYNC_BACKEND::detail {

struct experience {
  std::uint16_t turns = 0;    ///< sections since, for the badness mask
  std::uint16_t badness = 0;  ///< a mask: 2^n-1 after n failures in a row
  std::uint8_t missing = 0;   ///< attempts below the policy's limit
  std::uint8_t commits = 0;   ///< in a row
  std::uint8_t grain = 1;     ///< sections in one attempt (coarsening)
  std::uint8_t in_vain = 0;   ///< sections in a row that have waited as long as they may, up to most_in_vain

  static constexpr std::uint8_t most_in_vain = 4;
};

/// Outside attempts. Null where the system has no memory for it: the lock is to be taken.
experience* experience_of(const void* lock) noexcept;
/// The same, of a thread that runs an attempt or has just ended it: it has that memory.
experience& experience_in_attempt(const void* lock) noexcept;
/// Of the calling thread, of all locks: as if it had just started; and what threads have learnt together of locks
/// (skip_after_failure). For tests that count attempts.
void forget_experience() noexcept;

/// Whether this section is to be tried.
bool wants_attempt(experience& mine, const void* lock, const elision_policy& policy) noexcept;
/// Attempts for a section now.
std::uint32_t attempts_now(const experience& mine, const elision_policy& policy) noexcept;

void attempt_aborted(experience& mine, const elision_policy& policy) noexcept;
/// Why a section takes the lock after attempts.
enum class failure : std::uint8_t { busy, conflicts, hopeless };
void attempts_failed(experience& mine, const void* lock, const elision_policy& policy, failure why) noexcept;
void attempt_committed(experience& mine, const elision_policy& policy, unsigned sections) noexcept;
/// An attempt with more than its one section aborted, which says nothing of the section.
void coarse_attempt_aborted(experience& mine, bool too_large) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::detail
