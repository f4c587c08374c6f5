// SPDX-License-Identifier: Apache-2.0
// The count of attempts that commit, which each elided section pays for: a thread remembers the counters of the site at
// which it counts.
#pragma once

#include <cstdint>

#include <txsync/site.hpp>

#include "thread_block.hpp"

namespace txsync::inline TXSYNC_BACKEND::observe {

/// Of the calling thread and of the site at which it counts. Null: the next count looks for them.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local attempt_counters* my_attempt_counters;

/// Before the calling thread counts at another site; may be called in attempts.
inline void forget_attempt_counters() noexcept { my_attempt_counters = nullptr; }

/// Finds the site's counters in the calling thread's block and remembers them. Null where nothing is counted now, which
/// is not remembered: so counting that is turned on begins at once.
attempt_counters* find_attempt_counters(site& place) noexcept;

/// One section in so many is timed, to estimate the time that aborted attempts lose.
inline constexpr std::uint32_t timing_period = 16;

/// A hash of the number of a site's attempts (multiplicative; Knuth, vol. 3, 6.4). What is done when it is small is
/// done at distances that vary, so that no pattern of the program falls together with them; and as often where only
/// some of the numbers come up, as when every second attempt aborts.
constexpr std::uint64_t hash_of_attempts(std::uint64_t attempts) noexcept { return attempts * 0x9E3779B97F4A7C15u; }
/// Whether the thread's next section is timed after a section that ended with the n-th attempt: one in timing_period.
constexpr bool times_next(std::uint64_t attempts) noexcept {
  return hash_of_attempts(attempts) < ~std::uint64_t{0} / timing_period;
}

/// An attempt of the site has committed. Outside attempts. True: the thread's next section is to be timed.
/// Requires: forget_attempt_counters() since the thread counted at another site.
inline bool count_commit(site& place) noexcept {
  attempt_counters* counters = my_attempt_counters;
  if (counters == nullptr) [[unlikely]] {
    counters = find_attempt_counters(place);
    if (counters == nullptr) return false;
  }
  return times_next(counters->begun.add(1));
}

/// So many critical sections beyond the first have run in an attempt that was counted.
void count_joined(site& place, std::uint32_t sections) noexcept;
/// An attempt that was counted has run none: a try that found the lock held.
void count_empty(site& place) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::observe
