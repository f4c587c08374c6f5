// SPDX-License-Identifier: Apache-2.0
// Policies of elision: how often a critical section is tried as a hardware attempt, what it waits for, and what
// failures teach. Which causes count, and which ones end the tries, is the same for all policies (docs/elision.md).
#pragma once

#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// What an attempt does if it finds the lock held when it begins. The first two are the papers' rules against lemmings:
/// threads that take the lock one after the other because the first one did.
enum class when_busy : std::uint8_t {
  waits_outside,  ///< ends, waits until the lock is free, and tries again (shore-mt paper, 3.2)
  waits_inside,   ///< reads the lock inside, until its release aborts the attempt (always-abort paper, IV-A)
  retries,        ///< ends and tries again at once
  takes_lock,     ///< ends and queues up for the lock (glibc 2.18 to 2.42)
};

/// What is learnt from attempts that fail. Each thread learns for each lock, all threads learn for a lock
/// (skip_after_failure), or A/B trials learn for the site.
enum class adaptation : std::uint8_t {
  none,
  /// An abort lowers the limit of attempts to one at once; a commit raises it by one (leveldb 4.2.1). That abort has
  /// then used up the section's only attempt, and the section takes the lock. Attempts that found the lock held do not
  /// use one up, unless `busy_counts` says so.
  retry_limit,
  /// After a failure, a fixed number of the next sections of that lock take the lock, too, whichever thread runs them.
  /// A failure is a section that took the lock because the lock was held, or after an abort without the CPU's hint to
  /// try again. A section whose attempts were used up by conflicts is no failure (glibc). An abort by a thread that
  /// takes the lock is a conflict here.
  /// The number of sections left stands in a table of 256 entries, which all locks share by a hash of their address.
  /// glibc keeps it in the mutex. Two locks that share an entry also share its number. In glibc, a write of the number
  /// aborts the attempts of the lock. Here the writer aborts them, too, because it takes the lock next.
  skip_after_failure,
  badness,  ///< failures in a row double the distance between attempts, a commit ends that (LLVM's libomp)
  trial,    ///< badness, and A/B trials: now and then the site runs in both modes, and keeps the faster one
};

/// How the critical sections of a site are tried. A site keeps a reference to its policy. The policy is a constant:
/// usually one of elision_presets, or a copy of one with some members changed. Requires: it outlives the sites that
/// have it, and does not change. Times are in units of machine::cycles(). The defaults are the standard preset.
struct elision_policy {
  std::uint32_t attempts = 5;  ///< max. attempts that abort for a cause that counts; 0: always take the lock
  when_busy busy = when_busy::waits_outside;
  bool busy_counts = false;  ///< an attempt that finds the lock held is used up, which makes lemmings
  /// Each abort uses up an attempt, whatever its cause, and another attempt follows while any is left. Neither the
  /// CPU's hint nor the cause of a conflict matters. An abort by a thread that takes the lock counts like the others.
  /// busy_counts, busy_limit, max_wait and tries_without_hint have no effect; a section waits outside only for the
  /// backoff.
  bool every_abort_counts = false;
  std::uint32_t busy_limit = 16;  ///< a section that finds the lock held more often takes it; 0: no limit
  /// Cycles that a section waits outside for a held lock, in all. It then takes the lock, in line with threads that
  /// cannot be elided and whose queue might never end. If it has waited in vain, the limit doubles for the thread's
  /// next section of that lock that waits, up to 16 times as much. So a queue that one long section has caused has
  /// time to end. A wait that stays below the limit resets it. 0: no limit
  std::uint32_t max_wait = 20'000;
  /// The number of aborts of a section that are tried again although they are no conflict and come without the CPU's
  /// hint.
  std::uint32_t tries_without_hint = 0;
  std::uint32_t max_backoff = 2048;  ///< cycles; the pause after a conflict is random; 0: none
  adaptation adapts = adaptation::trial;
  std::uint16_t skip_after_busy = 0;   ///< for skip_after_failure: sections, if the lock was found held
  std::uint16_t skip_after_abort = 0;  ///< likewise, for any other cause
  std::uint16_t max_badness = 1023;    ///< for badness and trial: 2^n-1; at least one section in 2^n is tried
  /// Coarsening (leveldb 4.2.2): the maximum number of consecutive sections in one attempt; 1: no coarsening. Between
  /// them the thread stays in the attempt. For code that does little there (see commit_coarsened()).
  std::uint8_t max_sections = 1;
  std::uint8_t coarsens_after = 16;     ///< commits in a row
  std::uint32_t trial_cycles = 65'536;  ///< min. length of a window of a trial, in cycles
};

/// The settings of papers and libraries, under the names that policy files and tables use. docs/elision.md has them
/// side by side.
namespace elision_presets {

/// What txsync does unless told otherwise.
inline constexpr elision_policy standard{};
/// Every section is tried, whatever happened to the last ones.
inline constexpr elision_policy eager{.adapts = adaptation::none};
/// Shore-MT paper, 3.2: two attempts. An attempt that finds the lock held uses one up, and waits outside until the lock
/// is free.
inline constexpr elision_policy shore{.attempts = 2, .busy_counts = true, .max_wait = 0, .adapts = adaptation::none};
/// Thesis on TSX in InnoDB, 2.1 and 4.2.2: up to a hundred retries of aborts that the CPU says may be retried.
inline constexpr elision_policy thesis_100{
    .attempts = 101, .busy = when_busy::takes_lock, .max_backoff = 0, .adapts = adaptation::none};
/// Always-abort paper, IV-A: one attempt, or ten with exponential backoff, whatever the causes of their aborts. If the
/// lock is held when an attempt begins, the attempt waits for it inside.
inline constexpr elision_policy htm_1{.attempts = 1,
                                      .busy = when_busy::waits_inside,
                                      .every_abort_counts = true,
                                      .max_backoff = 0,
                                      .adapts = adaptation::none};
inline constexpr elision_policy htm_10{
    .attempts = 10, .busy = when_busy::waits_inside, .every_abort_counts = true, .adapts = adaptation::none};
/// Our variants of these: aborts by threads that take the lock do not count, up to busy_limit per section. So one
/// thread that takes the lock does not make the others take it.
inline constexpr elision_policy htm_1_patient{
    .attempts = 1, .busy = when_busy::waits_inside, .max_backoff = 0, .adapts = adaptation::none};
inline constexpr elision_policy htm_10_patient{
    .attempts = 10, .busy = when_busy::waits_inside, .tries_without_hint = 10, .adapts = adaptation::none};
/// glibc's defaults (tunables glibc.elision.*): 3 tries; 3 sections skipped after a lock found held, 3 after an abort
/// without the hint.
inline constexpr elision_policy glibc{.attempts = 3,
                                      .busy = when_busy::takes_lock,
                                      .max_backoff = 0,
                                      .adapts = adaptation::skip_after_failure,
                                      .skip_after_busy = 3,
                                      .skip_after_abort = 3};
/// LLVM's libomp (KMP_ADAPTIVE_LOCK_PROPS defaults): one retry, badness up to 1,023.
inline constexpr elision_policy libomp{.attempts = 2, .max_wait = 0, .max_backoff = 0, .adapts = adaptation::badness};
/// LevelDB paper, 4.2: a retry limit that an abort lowers to one at once, and coarsening. The paper does not give its
/// numbers.
inline constexpr elision_policy xsync{
    .attempts = 8, .adapts = adaptation::retry_limit, .max_sections = 16, .coarsens_after = 16};
/// A lock found held uses attempts up and is not waited for, after which all threads take it. To be studied, not to be
/// used.
inline constexpr elision_policy lemming{
    .busy = when_busy::retries, .busy_counts = true, .busy_limit = 0, .adapts = adaptation::none};

}  // namespace elision_presets

}  // namespace txsync::TXSYNC_INLINE_BACKEND
