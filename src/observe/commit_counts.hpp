// SPDX-License-Identifier: Apache-2.0
// Counts attempts that commit, a cost of each elided critical section. A thread counts its commits down in a word that
// it writes at the end of each attempt anyway (attempt_frame::countdown). Now and then it adds them to the site's
// counters.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include <txsync/site.hpp>

#include "thread_block.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// Where the number of commits is kept that the calling thread may make before it adds them.
struct commits_left {
  std::uint32_t (*get)() noexcept;
  void (*set)(std::uint32_t commits) noexcept;
};
/// Null: no thread has counted any. Relaxed: a constant, stored by the first thread that counts.
extern constinit std::atomic<const commits_left*> where_commits_are_left;

/// What the calling thread knows about its commits that are not yet in the counters.
struct own_commits {
  attempt_counters* counters = nullptr;  // of the site at which it counts; null: the next add_commits() looks for them
  std::uint32_t drawn = 0;               // what was left at the last add()
  std::uint16_t added = 0;               // by add_commits(), since it last looked for the counters; no more than 65535
  bool times_next = false;               // whether to time the section after the last commit that is left

  void add() noexcept {
    if (counters == nullptr) return;
    const std::uint32_t now = where_commits_are_left.load(std::memory_order_relaxed)->get();
    if (now == drawn) return;
    counters->begun.add(drawn - now);
    drawn = now;
  }
};
[[gnu::tls_model("initial-exec")]] extern constinit thread_local own_commits my_commits;

/// Called before the calling thread counts at another site or in another block. It may be called in attempts.
inline void forget_attempt_counters() noexcept {
  my_commits.counters = nullptr;
  if (const commits_left* const left = where_commits_are_left.load(std::memory_order_relaxed)) left->set(1);
}

/// One of this many sections is timed, to estimate the time that aborted attempts lose.
inline constexpr std::uint32_t timing_period = 32;

/// A hash of the number of a site's attempts (multiplicative; Knuth, vol. 3, 6.4). Actions taken when it is small
/// happen at varying distances, so that they do not coincide with a pattern of the program. They are as frequent if
/// only some numbers occur, as when every second attempt aborts.
constexpr std::uint64_t hash_of_attempts(std::uint64_t attempts) noexcept { return attempts * 0x9E3779B97F4A7C15u; }
/// Whether the thread's next section is timed, after a section that ended with the n-th attempt: one in timing_period.
constexpr bool times_next(std::uint64_t attempts) noexcept {
  return hash_of_attempts(attempts) < ~std::uint64_t{0} / timing_period;
}

/// The largest number of commits that a thread counts before it adds them. It is also at most 1 + n/32, where n is what
/// the thread has added since it last changed the site. Some ends of threads or processes go unnoticed; commits not
/// added by then are lost. So of a thread's sections at a site at most one in 32 is lost, and of few none.
inline constexpr std::uint32_t max_commits_apart = 64;
inline constexpr std::uint32_t min_counted_for_one_apart = 32;

/// A draw for sections that are timed with a chance of one in timing_period each, independent of earlier draws. It says
/// how many sections there are until the first timed one, or `max` if none of them is timed.
struct timing_draw {
  std::uint32_t sections;
  bool times_last;
};
constexpr timing_draw draw_timing(std::uint64_t seed, std::uint32_t max) noexcept {
  static_assert(timing_period == 32);  // five bits decide about one section
  constexpr std::uint32_t digits = 12;
  constexpr std::uint64_t ones = 0x0084'2108'4210'8421u;  // the lowest bit of each of them
  for (std::uint32_t before = 0; before < max; before += digits) {
    // SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
    std::uint64_t bits = seed += 0x9E37'79B9'7F4A'7C15u;
    bits = (bits ^ bits >> 30) * 0xBF58'476D'1CE4'E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D0'49BB'1331'11EBu;
    bits ^= bits >> 31;
    const std::uint64_t zero_digits = ~(bits | bits >> 1 | bits >> 2 | bits >> 3 | bits >> 4) & ones;
    if (zero_digits == 0) continue;
    const auto first = before + 1 + static_cast<std::uint32_t>(std::countr_zero(zero_digits)) / 5;
    return first <= max ? timing_draw{first, true} : timing_draw{max, false};
  }
  return {max, false};
}

/// Called when none is left. Adds the commits that the calling thread has counted down at the site, and sets how many
/// are left now. Returns whether its next section is to be timed. Called outside attempts.
bool add_commits(site& the_site, const commits_left& left) noexcept;

/// Counts the critical sections beyond the first that ran in an attempt that was counted.
void count_joined(site& the_site, std::uint32_t sections) noexcept;
/// Counts an attempt that was counted but ran no critical section, because it found the lock held.
void count_empty(site& the_site) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
