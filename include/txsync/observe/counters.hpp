// SPDX-License-Identifier: Apache-2.0
// What is counted for each site, and how to read it.
#pragma once

#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/observe/attempts.hpp>
#include <txsync/observe/histogram.hpp>
#include <txsync/site.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// The counts of one site over all threads since the start of the process, including threads that have ended.
struct site_totals {
  const char* name = nullptr;
  std::uint32_t id = 0;
  /// Critical sections. Those that ran in attempts are exact. Those that took a lock are estimated from samples: one in
  /// `sampling_period` is sampled (of each thread's first acquisitions, every one is). The standard error is about
  /// sqrt(their number * sampling_period).
  std::uint64_t acquisitions = 0;
  /// Of these, those by locks that do not count their waits, estimated in the same way. Such a lock is one in elided<>
  /// that has no site of its own, for example futex_mutex. Of its waits and holds the next members say nothing.
  std::uint64_t unwatched = 0;
  std::uint64_t contended = 0;  ///< exact: acquisitions that had to wait
  std::uint64_t wait_ns = 0;    ///< exact: time from asking to getting the lock, over the contended ones
  /// The longest single wait, including those of the next lines. In a difference() within 12.5 %.
  std::uint64_t max_wait_ns = 0;
  std::uint64_t failed_waits = 0;        ///< exact: waits that ended at a deadline, and unfinished waits
  std::uint64_t failed_wait_ns = 0;      ///< exact: the time of all these
  std::uint32_t unfinished_waits = 0;    ///< threads that waited at the moment of the snapshot
  std::uint64_t unfinished_wait_ns = 0;  ///< how long these had waited by then; included in failed_wait_ns
  std::uint64_t hold_ns = 0;             ///< estimated from samples
  std::uint64_t condition_waits = 0;
  std::uint64_t condition_wait_ns = 0;
  histogram_total wait;             ///< ns, contended acquisitions
  histogram_total hold;             ///< ns, sampled acquisitions
  attempt_totals attempts;          ///< attempts in hardware
  transaction_totals transactions;  ///< software transactions of an atomic block
  path_note path;                   ///< of an atomic block; in a difference() that of the later snapshot
  warm_totals warm_ups;             ///< warm-ups of warming locks

  /// Critical sections that took the lock, after aborted attempts or because attempts had not paid. Estimated. For an
  /// atomic block: the blocks that committed in software, exact.
  std::uint64_t fallbacks() const noexcept {
    return (acquisitions > attempts.elided ? acquisitions - attempts.elided : 0) + transactions.commits;
  }
  /// False: there were acquisitions whose waits nobody counts, and no wait was counted. 0 waits then says nothing.
  bool counts_waits() const noexcept { return unwatched == 0 || contended != 0 || failed_waits != 0; }
};

/// At full rate, one acquisition in this many is sampled, with a jitter of half this number.
inline constexpr std::uint32_t sampling_period = 256;

/// Adds up the counts of every known site into `out`, by id. Returns how many sites there are, which may exceed
/// `capacity`; at most `capacity` entries are written. It runs concurrently with threads that count: each number was
/// true at some moment during the call. Not for signal handlers.
/// Under `txsync run` the launcher assigns the ids. The ids of other sites are gaps, with an empty name. A thread may
/// also continue the counts of a process of the program that has ended; those are then in the sum.
TXSYNC_EXPORT std::uint32_t snapshot(site_totals* out, std::uint32_t capacity) noexcept;

/// The counts between two snapshots of the same site. Requires: `later` was taken after `earlier`.
TXSYNC_EXPORT site_totals difference(const site_totals& later, const site_totals& earlier) noexcept;

namespace detail {

/// Acquisitions of the calling thread until its next sample.
[[gnu::tls_model("initial-exec")]] TXSYNC_EXPORT extern constinit thread_local std::int32_t until_sample;

/// A sample begins: the calling thread has just acquired `lock`, of the site with that number. A site that counts
/// nothing has the number 0. True: the lock should call hold_ends() before it is given up (one lock of a thread at a
/// time).
TXSYNC_EXPORT bool sample(std::uint32_t site_id, const void* lock) noexcept;
/// The same for a lock that counts neither its waits nor its holds. The lock need not call hold_ends().
TXSYNC_EXPORT void sample_unwatched(std::uint32_t site_id) noexcept;
/// The program has such locks. Returns true.
TXSYNC_EXPORT bool announce_unwatched() noexcept;
TXSYNC_EXPORT void hold_ends(const void* lock) noexcept;
/// The lock whose hold by the calling thread is being timed, or null.
[[gnu::tls_model("initial-exec")]] TXSYNC_EXPORT extern constinit thread_local const void* timed_lock;
/// For locks without room for a mark: the calling thread is about to give the lock up. Cost: a load and a comparison.
inline void hold_ends_if_timed(const void* lock) noexcept {
  if (timed_lock == lock) [[unlikely]]
    hold_ends(lock);
}
/// The calling thread has acquired a lock that calls hold_ends_if_timed() before it is given up.
inline void acquired(std::uint32_t site_id, const void* lock) noexcept {
  if (--until_sample <= 0) [[unlikely]]
    (void)sample(site_id, lock);
}
/// The calling thread begins to wait for a lock. Returns machine::cycles(). waited() or wait_timed_out() ends the wait.
/// Locks that do not call this are counted all the same, but their waits are not seen while they last. `lock` is the
/// address that tools are told (events.hpp).
TXSYNC_EXPORT std::uint64_t wait_begins(std::uint32_t site_id, const void* lock) noexcept;
/// wait_begins() in two steps, for locks whose waits are often short. First step: the thread begins to spin. Only tools
/// are told. True: they were told, and waited() or wait_timed_out() ends the wait. False: spun() may end it.
TXSYNC_EXPORT bool spin_begins(std::uint32_t site_id, const void* lock) noexcept;
/// As waited(), in about a third of its instructions. Requires: spin_begins() returned false, and park_begins() has not
/// been called since.
TXSYNC_EXPORT void spun(std::uint32_t site_id, std::uint64_t cycles) noexcept;
/// Second step, if spinning was not enough: from here on, the wait is seen while it lasts. It began at `since` in
/// machine::cycles(), or now if that is 0. Returns when it began.
TXSYNC_EXPORT std::uint64_t park_begins(std::uint32_t site_id, std::uint64_t since) noexcept;
/// The thread gave up at a deadline, after that many machine::cycles().
TXSYNC_EXPORT void wait_timed_out(std::uint32_t site_id, const void* lock, std::uint64_t cycles) noexcept;
/// The calling thread waited that many machine::cycles() for a lock, or on a condition.
TXSYNC_EXPORT void waited(std::uint32_t site_id, const void* lock, std::uint64_t cycles) noexcept;
TXSYNC_EXPORT void condition_waited(std::uint32_t site_id, std::uint64_t cycles) noexcept;

/// The number under which acquisitions of the site are counted at present.
inline std::uint32_t counted_id(site& the_site) noexcept {
  return (the_site.policy() & policy_word::counting_off) != 0 ? 0 : the_site.id();
}

}  // namespace detail

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
