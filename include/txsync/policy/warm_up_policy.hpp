// SPDX-License-Identifier: Apache-2.0
// Policies of warm-up: how often, how early and by how many threads a critical section is run ahead of time
// (docs/warm-up.md).
#pragma once

#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// Whether a closure is also run before the lock is asked for (prefetch before lock). It is then not known yet whether
/// the thread will wait.
enum class prefetch_before_lock : std::uint8_t {
  never,
  where_faster,  ///< if trials find that faster; never for policies that do not adapt
  always         ///< without trials
};
using warm_early [[deprecated("prefetch_before_lock")]] = prefetch_before_lock;

/// How and when threads warm up for critical sections of a site. Requires: it outlives the sites that have it, and does
/// not change. The defaults are the standard preset.
struct warm_up_policy {
  /// The maximum number of warm-ups in one wait. A body that has run to its end is not run again.
  std::uint32_t tries = 4;
  /// If the lock has an order, only waiters warm up that have `nearest` to `farthest` threads before them. What is
  /// fetched too early is evicted again; what is fetched too late does not help.
  std::uint32_t nearest = 1;
  std::uint32_t farthest = 4;
  std::uint32_t speculators = 0;  ///< max. threads that warm up at a time; 0: no limit
  /// The maximum number of accesses of one body. It ends a walk that wrong values have led astray. Each access costs
  /// one cache miss at most.
  std::uint32_t max_accesses = 4096;
  /// An always-abort attempt of the waiter that is next looks at the lock, and aborts when the lock is given up.
  bool watches = true;
  /// Now and then the site's sections run without warm-up. If that was faster, warm-up stays off.
  bool adapts = true;
  /// Prefetch before lock: threads that find the lock free begin with cold caches, too. The end of a wait cuts a
  /// closure short; before the lock is asked for, the closure runs to its end.
  prefetch_before_lock early = prefetch_before_lock::where_faster;
  /// The minimum length of a window of a trial, in cycles: a mutex's waiters take that long to settle. Windows of
  /// trials of `early` have a quarter of it.
  std::uint32_t trial_cycles = 4'194'304;
};

/// The settings that policy files and tables name; docs/warm-up.md has them side by side.
namespace warm_up_presets {

/// What txsync does unless told otherwise.
inline constexpr warm_up_policy standard{};
/// Every wait warms up, whether that pays or not.
inline constexpr warm_up_policy eager{.adapts = false};
/// Every section is warmed up before its lock is asked for, whether that pays or not.
inline constexpr warm_up_policy early{.adapts = false, .early = prefetch_before_lock::always};
/// Always-abort paper, IV-A. `paper`: four tries (tatas, posix). `paper_ticket`: tickets at a distance of 2 or 3;
/// waiters of locks that report no distance never warm up by it. `paper_priority`: one try, for the lock with priority,
/// which has one ready waiter at a time (its Fig 4).
inline constexpr warm_up_policy paper{.watches = false, .adapts = false};
inline constexpr warm_up_policy paper_ticket{.nearest = 2, .farthest = 3, .watches = false, .adapts = false};
inline constexpr warm_up_policy paper_priority{.tries = 1, .watches = false, .adapts = false};

}  // namespace warm_up_presets

}  // namespace txsync::TXSYNC_INLINE_BACKEND
