// SPDX-License-Identifier: Apache-2.0
// The count of attempts that commit, which each elided section pays for. A thread counts its commits down in a word
// that it writes at the end of each attempt anyway (section_log::left), and adds them to the site's counters now and
// then.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include <txsync/site.hpp>

#include "thread_block.hpp"

namespace txsync::inline TXSYNC_BACKEND::observe {

/// How many commits of the calling thread are left until it adds them: where that is kept.
struct commits_left {
  std::uint32_t (*get)() noexcept;
  void (*set)(std::uint32_t commits) noexcept;
};
/// Null: no thread has counted any. Relaxed: a constant, by whoever counts first.
extern constinit std::atomic<const commits_left*> where_commits_are_left;

/// What the calling thread knows of its commits that are not in the counters yet.
struct own_commits {
  attempt_counters* counters = nullptr;  // of the site at which it counts; null: the next add_commits() looks for them
  std::uint32_t drawn = 0;               // what was left at the last add()
  bool times_next = false;               // after the last one that is left

  void add() noexcept {
    if (counters == nullptr) return;
    const std::uint32_t now = where_commits_are_left.load(std::memory_order_relaxed)->get();
    if (now == drawn) return;
    counters->begun.add(drawn - now);
    drawn = now;
  }
};
[[gnu::tls_model("initial-exec")]] extern constinit thread_local own_commits my_commits;

/// Before the calling thread counts at another site, or in another block; may be called in attempts.
inline void forget_attempt_counters() noexcept {
  my_commits.counters = nullptr;
  if (const commits_left* const left = where_commits_are_left.load(std::memory_order_relaxed)) left->set(1);
}

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

/// How many commits a thread counts before it adds them, at most; and at most one in so many of those that its block
/// has counted at the site. Not every end of a thread or a process is noticed, and what was not added by then is lost.
inline constexpr std::uint32_t max_commits_apart = 64;
inline constexpr std::uint64_t min_counted_for_one_apart = 32;

/// A draw for sections that are timed with a chance of one in timing_period each, whatever was drawn before: how many
/// sections until the first one, or `max` without one.
struct timing_draw {
  std::uint32_t sections;
  bool times_last;
};
constexpr timing_draw draw_timing(std::uint64_t seed, std::uint32_t max) noexcept {
  static_assert(timing_period == 16);  // a digit of four bits decides on a section
  constexpr std::uint32_t digits = 16;
  constexpr std::uint64_t ones = 0x1111'1111'1111'1111u;
  for (std::uint32_t before = 0; before < max; before += digits) {
    // SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
    std::uint64_t bits = seed += 0x9E37'79B9'7F4A'7C15u;
    bits = (bits ^ bits >> 30) * 0xBF58'476D'1CE4'E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D0'49BB'1331'11EBu;
    bits ^= bits >> 31;
    const std::uint64_t zero_digits = ~(bits | bits >> 1 | bits >> 2 | bits >> 3) & ones;
    if (zero_digits == 0) continue;
    const auto first = before + 1 + static_cast<std::uint32_t>(std::countr_zero(zero_digits)) / 4;
    return first <= max ? timing_draw{first, true} : timing_draw{max, false};
  }
  return {max, false};
}

/// None is left: adds the commits that the calling thread has counted down at the site, and says how many are left now.
/// True: its next section is to be timed. Outside attempts.
bool add_commits(site& place, const commits_left& left) noexcept;

/// So many critical sections beyond the first have run in an attempt that was counted.
void count_joined(site& place, std::uint32_t sections) noexcept;
/// An attempt that was counted has run none: a try that found the lock held.
void count_empty(site& place) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::observe
