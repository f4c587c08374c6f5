// SPDX-License-Identifier: Apache-2.0
// Policies of elision: how often a section is tried as a hardware attempt, what is waited for, what is learnt from
// attempts that fail. Which causes count and which end the trying is the same for all (docs/elision.md).
#pragma once

#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND {

/// What an attempt does that finds the lock held at its begin. The first two are the papers' rules against lemmings:
/// threads that take the lock one after the other because the first one did.
enum class when_busy : std::uint8_t {
  waits_outside,  ///< ends, waits until the lock is free, and tries again (shore-mt paper, 3.2)
  waits_inside,   ///< looks on inside the attempt, which the release of the lock then aborts (always-abort paper, IV-A)
  retries,        ///< ends and tries again at once
  takes_lock,     ///< ends and queues up for the lock (glibc 2.18 to 2.42)
};

/// What is learnt from attempts that fail: by each thread of each lock, by all threads of a lock (skip_after_failure),
/// and by trials of the site.
enum class adaptation : std::uint8_t {
  none,
  /// An abort lowers the limit of attempts to one at once, a commit raises it by one (leveldb 4.2.1). So a section has
  /// one attempt, but for those that found the lock held, where these do not count.
  retry_limit,
  /// When a section has taken the lock because the lock was held, or after an abort without the CPU's hint to try
  /// again, a fixed number of the next sections of that lock take it too, whichever thread runs them. Attempts that are
  /// used up by conflicts skip nothing (glibc). An abort by a thread that takes the lock is a conflict here. The number
  /// left stands in a table of 256 entries that all locks share by a hash of their address, where glibc has it in the
  /// mutex. Two locks that share an entry also share its number. In glibc, a write of the number aborts the attempts of
  /// the lock. Here the writer aborts them, too, as it takes the lock next.
  skip_after_failure,
  badness,  ///< failures in a row double the distance between attempts, a commit ends that (LLVM's libomp)
  trial,    ///< badness; and now and then the site is run both ways for a while, and the faster way is kept
};

/// How the sections of a site are tried. A site keeps a reference to its policy: a constant, in general one of
/// elision_presets or a copy of one with some members changed. Requires: outlives the sites that have it, and does not
/// change. Times are in units of machine::cycles(). The defaults are the standard preset.
struct elision_policy {
  std::uint32_t attempts = 5;  ///< of a section that abort for a cause that counts, at most; 0: always take the lock
  when_busy busy = when_busy::waits_outside;
  bool busy_counts = false;  ///< a lock found held uses up an attempt: what makes lemmings
  /// Each abort uses up an attempt, whatever its cause, and another one follows while any is left: neither the hint is
  /// asked, nor who has caused a conflict. An abort by a thread that takes the lock counts like the others. Makes
  /// busy_counts, busy_limit, longest_wait and tries_without_hint void; nothing is waited for outside but the backoff.
  bool every_abort_counts = false;
  std::uint32_t busy_limit = 16;  ///< found held more often than this in one section: take the lock; 0: no limit
  /// Cycles that a section waits outside for a lock that is held, in all: then it takes the lock, in line with those
  /// that cannot be elided and might go on for ever. Doubled for the next section of the thread and lock that waits, up
  /// to 16 times as much, until one has not waited so long: a queue that one long section has left may end. 0: no limit
  std::uint32_t longest_wait = 20'000;
  /// Aborts that are no conflict and come without the CPU's hint to try again: so many are tried again nevertheless.
  std::uint32_t tries_without_hint = 0;
  std::uint32_t longest_backoff = 2048;  ///< cycles; random, after a conflict; 0: none
  adaptation adapts = adaptation::trial;
  std::uint16_t skip_after_busy = 0;   ///< sections, for skip_after_failure: because the lock was found held
  std::uint16_t skip_after_abort = 0;  ///< likewise, for any other cause
  std::uint16_t most_badness = 1023;   ///< 2^n-1, for badness and trial: one section in 2^n is tried at least
  /// Coarsening (leveldb 4.2.2): up to so many sections that follow each other in one attempt; 1: never. Between them
  /// the thread stays in the attempt: for code that does little there (see commit_coarsened()).
  std::uint8_t most_sections = 1;
  std::uint8_t coarsens_after = 16;     ///< commits in a row
  std::uint32_t trial_cycles = 65'536;  ///< cycles of a window of a trial, at least
};

/// The papers' and libraries' settings, under the names that policy files and tables use; docs/elision.md has
/// them side by side.
namespace elision_presets {

/// What txsync does unless told otherwise.
inline constexpr elision_policy standard{};
/// Every section is tried, whatever became of the last ones.
inline constexpr elision_policy eager{.adapts = adaptation::none};
/// Shore-MT paper, 3.2: two attempts, of which a lock found held uses one up, and waits outside until it is free.
inline constexpr elision_policy shore{
    .attempts = 2, .busy_counts = true, .longest_wait = 0, .adapts = adaptation::none};
/// Thesis on TSX in InnoDB, 2.1 and 4.2.2: up to a hundred retries, of what the CPU says may be retried.
inline constexpr elision_policy thesis_100{
    .attempts = 101, .busy = when_busy::takes_lock, .longest_backoff = 0, .adapts = adaptation::none};
/// Always-abort paper, IV-A: one attempt, or ten with exponential backoff, whatever the causes of their aborts. A lock
/// that is held at the begin of an attempt is waited for inside.
inline constexpr elision_policy htm_1{.attempts = 1,
                                      .busy = when_busy::waits_inside,
                                      .every_abort_counts = true,
                                      .longest_backoff = 0,
                                      .adapts = adaptation::none};
inline constexpr elision_policy htm_10{
    .attempts = 10, .busy = when_busy::waits_inside, .every_abort_counts = true, .adapts = adaptation::none};
/// Ours, after the same: aborts by threads that take the lock do not count, up to busy_limit of a section. So one
/// thread that takes the lock does not make the others take it.
inline constexpr elision_policy htm_1_patient{
    .attempts = 1, .busy = when_busy::waits_inside, .longest_backoff = 0, .adapts = adaptation::none};
inline constexpr elision_policy htm_10_patient{
    .attempts = 10, .busy = when_busy::waits_inside, .tries_without_hint = 10, .adapts = adaptation::none};
/// glibc's defaults (tunables glibc.elision.*): tries 3, skips 3 after a lock found held, 3 after aborts without hint.
inline constexpr elision_policy glibc{.attempts = 3,
                                      .busy = when_busy::takes_lock,
                                      .longest_backoff = 0,
                                      .adapts = adaptation::skip_after_failure,
                                      .skip_after_busy = 3,
                                      .skip_after_abort = 3};
/// LLVM's libomp (KMP_ADAPTIVE_LOCK_PROPS defaults): one retry, badness up to 1,023.
inline constexpr elision_policy libomp{
    .attempts = 2, .longest_wait = 0, .longest_backoff = 0, .adapts = adaptation::badness};
/// LevelDB paper, 4.2: a retry limit that an abort lowers to one at once, coarsening. The paper does not say its
/// numbers.
inline constexpr elision_policy xsync{
    .attempts = 8, .adapts = adaptation::retry_limit, .most_sections = 16, .coarsens_after = 16};
/// A lock found held uses attempts up and is not waited for, after which all take it. To be looked at, not to be used.
inline constexpr elision_policy lemming{
    .busy = when_busy::retries, .busy_counts = true, .busy_limit = 0, .adapts = adaptation::none};

}  // namespace elision_presets

}  // namespace txsync::inline TXSYNC_BACKEND
