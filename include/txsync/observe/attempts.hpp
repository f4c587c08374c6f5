// SPDX-License-Identifier: Apache-2.0
// The counts of a site's speculation: its attempts, which are hardware transactions of elided locks and of atomic
// blocks, and its software transactions.
#pragma once

#include <cstddef>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/machine/abort_cause.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// The sum over all causes of aborts.
constexpr std::uint64_t sum_of(const std::uint64_t (&aborts)[abort_cause_count]) noexcept {
  std::uint64_t sum = 0;
  for (const std::uint64_t one : aborts) sum += one;
  return sum;
}

/// The counts of a site's attempts over all threads. An attempt is counted after its end, at the site of the outermost
/// lock that it elides, or of the atomic block that it runs.
/// The counts of the calling thread are exact, and so are those of threads that have ended. Of each other thread, up to
/// 63 commits may be missing, and as many sections, but at most one in 32. If the end of a thread or process is not
/// noticed, they stay missing. That happens in unmodified programs, and at _exit(), exec and signals.
struct attempt_totals {
  std::uint64_t commits = 0;                     ///< attempts that committed; one may run several sections
  std::uint64_t aborts[abort_cause_count] = {};  ///< exact: attempts that aborted, by first cause
  /// Critical sections that ran in attempts that committed (of nested ones only the outermost), and atomic blocks.
  std::uint64_t elided = 0;
  /// Exact: critical sections that took the lock after aborted attempts, and blocks that continued in software after
  /// them.
  std::uint64_t failed = 0;
  /// The time that aborted attempts took, rollback included. Estimated: about one section in 32 is timed.
  std::uint64_t lost_ns = 0;
  std::uint64_t lost_samples = 0;   ///< timed sections with an aborted attempt
  std::uint64_t lost_variance = 0;  ///< of lost_ns, in units of 1024 ns^2: its standard error is 32 times the root

  std::uint64_t all_aborts() const noexcept { return sum_of(aborts); }
  /// All attempts that ended.
  std::uint64_t attempts() const noexcept { return commits + all_aborts(); }
};

/// The counts of an atomic block's software transactions over all threads. All are exact. A software transaction is no
/// attempt.
struct transaction_totals {
  std::uint64_t commits = 0;                     ///< blocks that committed in software
  std::uint64_t alone = 0;                       ///< of them, those that ran serially, and irrevocable ones
  std::uint64_t waits = 0;                       ///< times that tm::transaction::retry() slept
  std::uint64_t aborts[abort_cause_count] = {};  ///< by cause: validation, locked, lock-busy, user

  std::uint64_t all_aborts() const noexcept { return sum_of(aborts); }
  bool is_empty() const noexcept { return commits == 0 && waits == 0 && all_aborts() == 0; }
};

/// Why an atomic block first tries the path that it does.
enum class path_reason : std::uint8_t {
  by_algorithm,     ///< the algorithm decides it for all blocks
  by_cycles,        ///< `auto`: that path takes fewer cycles
  not_timed,        ///< `auto`: the other path has not been timed often enough
  no_hardware,      ///< hardware transactions do not commit here, or are turned off
  by_block_policy,  ///< the block makes no attempts in hardware, or is irrevocable
};

/// Which path an atomic block first tried when one of its threads last looked, and why. Of several blocks with one name,
/// that of the last look at any of them.
struct path_note {
  std::uint64_t noted = 0;          ///< machine::cycles() of that look; 0: nothing is known
  std::uint64_t algorithm[2] = {};  ///< its name, the first character in the lowest byte (src/observe/name_words.hpp)
  std::uint64_t in_hardware = 0;    ///< 1: hardware first; 0: software from the start
  std::uint64_t reason = 0;         ///< a path_reason
  // `auto`: the mean machine::cycles() of a recent block on that path; 0: not timed. If a path was left because it took
  // longer, the mean at that time.
  std::uint64_t hardware_cycles = 0;
  std::uint64_t software_cycles = 0;
};
/// The newer one of both.
inline void add(path_note& sum, const path_note& part) noexcept {
  if (part.noted > sum.noted) sum = part;
}

/// The counts between two snapshots. Requires: `later` was taken after `earlier`.
TXSYNC_EXPORT transaction_totals difference(const transaction_totals& later,
                                            const transaction_totals& earlier) noexcept;
inline void add(transaction_totals& sum, const transaction_totals& part) noexcept {
  sum.commits += part.commits;
  sum.alone += part.alone;
  sum.waits += part.waits;
  for (std::size_t i = 0; i < abort_cause_count; ++i) sum.aborts[i] += part.aborts[i];
}

/// The counts, over all threads, of what the waiters of a warming lock ran ahead of time (speculate/warm_up.hpp). All
/// are exact. None of it is an attempt in attempt_totals, because an always-abort attempt is never meant to commit.
struct warm_totals {
  std::uint64_t runs = 0;      ///< warm-ups: bodies that ran over a warm_memory, and always-abort attempts
  std::uint64_t attempts = 0;  ///< of them, always-abort attempts
  std::uint64_t ns = 0;        ///< the time of all warm-ups, rollback included
  /// The attempts by the first cause of their end. `explicit`: the section ran to its end.
  std::uint64_t aborts[abort_cause_count] = {};
};

/// The counts between two snapshots. Requires: `later` was taken after `earlier`.
TXSYNC_EXPORT warm_totals difference(const warm_totals& later, const warm_totals& earlier) noexcept;
inline void add(warm_totals& sum, const warm_totals& part) noexcept {
  sum.runs += part.runs;
  sum.attempts += part.attempts;
  sum.ns += part.ns;
  for (std::size_t i = 0; i < abort_cause_count; ++i) sum.aborts[i] += part.aborts[i];
}

/// The counts between two snapshots. Requires: `later` was taken after `earlier`.
TXSYNC_EXPORT attempt_totals difference(const attempt_totals& later, const attempt_totals& earlier) noexcept;
inline void add(attempt_totals& sum, const attempt_totals& part) noexcept {
  sum.commits += part.commits;
  sum.elided += part.elided;
  sum.failed += part.failed;
  sum.lost_ns += part.lost_ns;
  sum.lost_samples += part.lost_samples;
  sum.lost_variance += part.lost_variance;
  for (std::size_t i = 0; i < abort_cause_count; ++i) sum.aborts[i] += part.aborts[i];
}

namespace detail {

// Requires, for these functions: the calling thread is in no attempt. `site_id` is the result of counted_id(). Cost:
// about two nanoseconds. src/observe/commit_counts.hpp counts attempts that commit.
TXSYNC_EXPORT void attempt_aborted(std::uint32_t site_id, abort_cause why) noexcept;
/// A section takes the lock after aborted attempts. True: the thread's next section is to be timed.
TXSYNC_EXPORT bool attempts_failed(std::uint32_t site_id) noexcept;
/// A timed section, which stands for `weight` sections, has lost that many machine::cycles() in aborted attempts.
TXSYNC_EXPORT void lost_in_attempts(std::uint32_t site_id, std::uint64_t cycles, std::uint32_t weight) noexcept;

/// A warm-up has ended, after that many machine::cycles(). If `attempt_ended_by` is null, it was a body; otherwise an
/// always-abort attempt, which that cause has ended. Requires: the calling thread is in no attempt.
TXSYNC_EXPORT void warmed_up(std::uint32_t site_id, std::uint64_t cycles, const abort_cause* attempt_ended_by) noexcept;

}  // namespace detail

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
