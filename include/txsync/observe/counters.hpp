// SPDX-License-Identifier: Apache-2.0
// What is counted of each site, and how to read it.
#pragma once

#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/observe/attempts.hpp>
#include <txsync/observe/histogram.hpp>
#include <txsync/site.hpp>

namespace txsync::inline TXSYNC_BACKEND::observe {

/// The counts of one site over all threads since the start of the process, those that have ended included.
struct site_totals {
  const char* name = nullptr;
  std::uint32_t id = 0;
  /// Critical sections. Of those that took a lock estimated from samples: one in `sampling_period` is looked at (the
  /// first of each thread all are). The standard error is about sqrt(their number * sampling_period). Those that ran in
  /// attempts are exact.
  std::uint64_t acquisitions = 0;
  std::uint64_t contended = 0;  ///< exact: acquisitions that had to wait
  std::uint64_t wait_ns = 0;    ///< exact: time between asking and getting, over the contended ones
  /// The longest single wait, in a difference() within 12.5 %, those of the next lines included.
  std::uint64_t max_wait_ns = 0;
  std::uint64_t failed_waits = 0;        ///< exact: those that ended at a deadline, and the unfinished ones
  std::uint64_t failed_wait_ns = 0;      ///< exact: the time of all of them
  std::uint32_t unfinished_waits = 0;    ///< threads that waited at the moment of the snapshot
  std::uint64_t unfinished_wait_ns = 0;  ///< how long those had waited by then; failed_wait_ns has it, too
  std::uint64_t hold_ns = 0;             ///< estimated from samples
  std::uint64_t condition_waits = 0;
  std::uint64_t condition_wait_ns = 0;
  histogram_total wait;             ///< ns, contended acquisitions
  histogram_total hold;             ///< ns, sampled acquisitions
  attempt_totals attempts;          ///< in hardware
  transaction_totals transactions;  ///< of an atomic block, in software
  warm_totals warm_ups;             ///< of warming locks

  /// Critical sections that took the lock: after attempts, or because attempts had not paid. Estimated. Of an atomic
  /// block those that committed in software, exact.
  std::uint64_t fallbacks() const noexcept {
    return (acquisitions > attempts.elided ? acquisitions - attempts.elided : 0) + transactions.commits;
  }
};

/// At full rate one acquisition in so many is sampled, with jitter of half of it.
inline constexpr std::uint32_t sampling_period = 256;

/// Adds up the counts of every known site into `out`, by id; answers how many there are (may exceed `capacity`, which
/// bounds what is written). Runs beside counting threads; each number is one that was true within the call. Not for
/// signal handlers. Under `txsync run` the launcher gives the ids: those of other sites are gaps, with an empty name,
/// and a thread may go on from the counts of a process of the program that has ended, which are then in the sum.
TXSYNC_EXPORT std::uint32_t snapshot(site_totals* out, std::uint32_t capacity) noexcept;

/// What happened between two snapshots of the same site. Requires: `later` was taken after `earlier`.
TXSYNC_EXPORT site_totals difference(const site_totals& later, const site_totals& earlier) noexcept;

namespace detail {

/// Acquisitions of the calling thread until its next sample.
[[gnu::tls_model("initial-exec")]] TXSYNC_EXPORT extern constinit thread_local std::int32_t until_sample;

/// A sample begins: the calling thread has just acquired `lock` of the site with that number. True when the lock should
/// call hold_ends() before it is given up (one lock of a thread at a time). A site that counts nothing has the number
/// 0.
TXSYNC_EXPORT bool sample(std::uint32_t site_id, const void* lock) noexcept;
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
/// The calling thread begins to wait for a lock; returns machine::cycles(). One of the next two calls ends the wait.
/// Locks that do not call this are counted all the same, but their waits are not seen while they last. `lock`: what
/// tools are told of it (events.hpp).
TXSYNC_EXPORT std::uint64_t wait_begins(std::uint32_t site_id, const void* lock) noexcept;
/// wait_begins() in two steps, for locks whose waits are often short. First: the thread begins to spin. Only tools are
/// told. True: they were, and waited() or wait_timed_out() ends the wait. False: spun() may.
TXSYNC_EXPORT bool spin_begins(std::uint32_t site_id, const void* lock) noexcept;
/// As waited(), in about a third of its instructions. Requires: spin_begins() returned false, and park_begins() was not
/// called since.
TXSYNC_EXPORT void spun(std::uint32_t site_id, std::uint64_t cycles) noexcept;
/// Second, where spinning was not enough: from here on the wait is seen while it lasts. It began at `since` in
/// machine::cycles(), or now if that is 0. Returns when it began.
TXSYNC_EXPORT std::uint64_t park_begins(std::uint32_t site_id, std::uint64_t since) noexcept;
/// The thread gave up at a deadline, after that many machine::cycles().
TXSYNC_EXPORT void wait_timed_out(std::uint32_t site_id, const void* lock, std::uint64_t cycles) noexcept;
/// The calling thread waited that many machine::cycles() for a lock, or on a condition.
TXSYNC_EXPORT void waited(std::uint32_t site_id, const void* lock, std::uint64_t cycles) noexcept;
TXSYNC_EXPORT void condition_waited(std::uint32_t site_id, std::uint64_t cycles) noexcept;

/// The number under which acquisitions of the site are counted now.
inline std::uint32_t counted_id(site& place) noexcept {
  return (place.policy() & policy_word::counting_off) != 0 ? 0 : place.id();
}

}  // namespace detail

}  // namespace txsync::inline TXSYNC_BACKEND::observe
