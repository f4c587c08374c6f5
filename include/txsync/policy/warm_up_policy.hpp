// SPDX-License-Identifier: Apache-2.0
// Policies of warm-up: how often, how early and by how many threads a critical section is run ahead (docs/warm-up.md).
#pragma once

#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND {

/// Whether a closure is run before the lock is asked for, too: when nobody knows yet whether there will be a wait.
enum class warm_early : std::uint8_t {
  never,
  where_faster,  ///< where trials find that faster; never for policies that do not adapt
  always         ///< without trials
};

/// How and when threads warm up for sections of a site. Requires: outlives the sites that have it, and does not change.
/// The defaults are the standard preset.
struct warm_up_policy {
  /// Of one wait, at most. A body that has run to its end is not run again.
  std::uint32_t tries = 4;
  /// Only waiters that have so many threads before them, where the lock has an order: what is fetched too early is gone
  /// again, and too late is too late.
  std::uint32_t nearest = 1;
  std::uint32_t farthest = 4;
  std::uint32_t speculators = 0;  ///< threads that warm up at a time, at most; 0: no limit
  /// Accesses of one body, at most: what ends a walk that has lost its way. Each costs a miss of the caches at most.
  std::uint32_t most_accesses = 4096;
  /// Always-abort attempts of a waiter that is next look at the lock, and abort when it is given up.
  bool watches = true;
  /// Runs the site's sections without warm-up now and then, and leaves it off where that was faster.
  bool adapts = true;
  /// Threads that find the lock free begin with cold caches, too, and what is not known while one waits is known
  /// before.
  warm_early early = warm_early::where_faster;
  /// Cycles of a window of a trial, at least: a mutex's waiters take as long to settle. Those of trials of `early` have
  /// a quarter.
  std::uint32_t trial_cycles = 4'194'304;
};

/// The settings that policy files and tables name; docs/warm-up.md has them side by side.
namespace warm_up_presets {

/// What txsync does unless told otherwise.
inline constexpr warm_up_policy standard{};
/// Every wait warms up, whatever that brings.
inline constexpr warm_up_policy eager{.adapts = false};
/// Every section is warmed up before its lock is asked for, whatever that brings.
inline constexpr warm_up_policy early{.adapts = false, .early = warm_early::always};
/// Always-abort paper, IV-A: four tries (tatas, posix); tickets at a distance of 2 or 3, by which waiters of locks that
/// tell no distance never warm up; the lock with priority, which has one ready waiter at a time, one try (its Fig 4).
inline constexpr warm_up_policy paper{.watches = false, .adapts = false};
inline constexpr warm_up_policy paper_ticket{.nearest = 2, .farthest = 3, .watches = false, .adapts = false};
inline constexpr warm_up_policy paper_priority{.tries = 1, .watches = false, .adapts = false};

}  // namespace warm_up_presets

}  // namespace txsync::inline TXSYNC_BACKEND
