// SPDX-License-Identifier: Apache-2.0
// The count of attempts that commit, which each elided section pays for: a thread remembers the counters of the site at
// which it counted last.
#pragma once

#include <cstdint>

#include <txsync/site.hpp>

#include "thread_block.hpp"

namespace txsync::inline TXSYNC_BACKEND::observe {

/// Of the calling thread. In no attempt.
struct counted_last {
  const site* place = nullptr;           ///< null: the next count looks for its counters
  attempt_counters* counters = nullptr;  ///< of that site
};
[[gnu::tls_model("initial-exec")]] extern constinit thread_local counted_last last_counted;

/// Finds the site's counters in the calling thread's block and remembers them. Null where nothing is counted now, which
/// is not remembered: so a site whose counting is turned on counts at once.
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
/// Whether the site's counters are looked for again: one in 256. Counting that is turned off is seen then.
constexpr bool forgets_counters(std::uint64_t attempts) noexcept {
  return hash_of_attempts(attempts) < std::uint64_t{1} << 56;
}

/// An attempt of the site has committed. Outside attempts. True: the thread's next section is to be timed.
inline bool count_commit(site& place) noexcept {
  attempt_counters* counters = last_counted.counters;
  if (last_counted.place != &place) [[unlikely]] {
    counters = find_attempt_counters(place);
    if (counters == nullptr) return false;
  }
  const std::uint64_t attempts = counters->begun.add(1);
  if (!times_next(attempts)) [[likely]]
    return false;
  if (forgets_counters(attempts)) last_counted.place = nullptr;
  return true;
}

/// So many critical sections beyond the first have run in an attempt that was counted.
void count_joined(site& place, std::uint32_t sections) noexcept;
/// An attempt that was counted has run none: a try that found the lock held.
void count_empty(site& place) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::observe
