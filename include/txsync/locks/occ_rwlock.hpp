// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/timed.hpp>
#include <txsync/machine/assert.hpp>
#include <txsync/machine/thread_annotations.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// A reader-writer lock for critical sections that are read all the time and hardly ever written ("occasional"
/// writers). It is Shore-MT's occ_rwlock (shore-mt paper, 3.2), which guards its histograms and checkpoints.
///
/// What it does: readers count themselves in and out in one word. A writer announces itself there, keeps new readers
/// out, and waits until the active readers have left. Writers queue at a mutex of their own.
/// Fairness: a writer waits only for the active readers, and for other writers as in futex_mutex. While writers follow
/// each other, readers wait, without a bound.
/// Use it for: read-mostly sections with rare writers. Do not use it for: frequent writers (shared_mutex).
/// Cost: two atomic read-modify-writes per read section, on one shared line; a write adds a mutex.
/// Named requirements: SharedTimedLockable. Thread-safe. Not recursive, also not for readers: a thread that holds it
/// shared must not lock it shared again. If a writer has announced itself in between, the second shared lock waits for
/// the writer, and the writer waits for the first one.
/// At most 2^30 shared holds exist, over all threads. Further readers are refused, or wait until a hold ends: they
/// check once a millisecond.
/// In the child of a fork: as shared_mutex.
/// Constant-initialised; all bits zero is an unlocked lock; 16 bytes.
class TXSYNC_CAPABILITY("shared_mutex") occ_rwlock : public detail::timed<occ_rwlock>,
                                                     public detail::timed_shared<occ_rwlock> {
 public:
  constexpr occ_rwlock() noexcept = default;
  occ_rwlock(const occ_rwlock&) = delete;
  occ_rwlock& operator=(const occ_rwlock&) = delete;

  void lock_shared() noexcept TXSYNC_LOCKS_SHARED {
    // acquire pairs with the release in unlock()
    if ((state_.fetch_add(1, std::memory_order_acquire) & (writer | full)) != 0) [[unlikely]]
      lock_shared_slow();
  }
  TXSYNC_EXPORT [[nodiscard]] bool try_lock_shared() noexcept TXSYNC_TRY_LOCKS_SHARED;
  /// Tries until machine::clock_ns() reaches the deadline.
  TXSYNC_EXPORT [[nodiscard]] bool try_lock_shared_until_ns(std::uint64_t deadline) noexcept TXSYNC_TRY_LOCKS_SHARED;
  void unlock_shared() noexcept TXSYNC_UNLOCKS_SHARED {
    TXSYNC_ASSERT(readers() != 0, "the calling thread holds the lock shared");
    // release pairs with the writer's acquire; the last reader wakes a waiting writer
    if (state_.fetch_sub(1, std::memory_order_release) == (writer | 1)) [[unlikely]]
      wake_writer();
  }
  /// As unlock_shared(). If no reader is active, it does nothing and returns false. While a writer is active, a reader
  /// that is counted too early is taken for an active one. After such an unlock no more readers may enter. Cost: as
  /// unlock_shared() for the only reader; beside other readers, one more atomic operation.
  bool unlock_shared_if_held() noexcept TXSYNC_UNLOCKS_SHARED {
    std::uint32_t seen = 1;
    // It does not read the word first: the atomic operation would wait for that read. release: as in unlock_shared();
    // relaxed: on failure it only looks
    if (state_.compare_exchange_strong(seen, 0, std::memory_order_release, std::memory_order_relaxed)) [[likely]]
      return true;
    if ((seen & ~writer) == 0) return false;
    unlock_shared();
    return true;
  }

  TXSYNC_EXPORT void lock() noexcept TXSYNC_LOCKS;
  TXSYNC_EXPORT [[nodiscard]] bool try_lock() noexcept TXSYNC_TRY_LOCKS;
  TXSYNC_EXPORT [[nodiscard]] bool try_lock_until_ns(std::uint64_t deadline) noexcept TXSYNC_TRY_LOCKS;
  TXSYNC_EXPORT void unlock() noexcept TXSYNC_UNLOCKS;
  /// As unlock(). If no writer is active, it does nothing and returns false. No extra cost.
  TXSYNC_EXPORT bool unlock_if_held() noexcept TXSYNC_UNLOCKS;

  /// The active readers, including those that were counted too early and are about to leave. For monitors and for
  /// elision.
  std::uint32_t readers() const noexcept { return state_.load(std::memory_order_relaxed) & ~writer; }
  bool has_writer() const noexcept { return (state_.load(std::memory_order_relaxed) & writer) != 0; }
  bool is_held() const noexcept { return state_.load(std::memory_order_relaxed) != 0; }

 private:
  static constexpr std::uint32_t writer = std::uint32_t{1} << 31;
  /// With so many readers no more may enter. Readers that are counted too early, and leave again, are fewer than there
  /// are threads.
  static constexpr std::uint32_t full = std::uint32_t{1} << 30;

  TXSYNC_EXPORT void lock_shared_slow() noexcept;
  bool await_way_in(std::uint64_t deadline) noexcept;
  void sleep_to_read(std::uint64_t deadline) noexcept;
  TXSYNC_EXPORT void wake_writer() noexcept;

  std::atomic<std::uint32_t> state_{0};
  std::atomic<std::uint32_t> sleeping_readers_{0};
  futex_mutex writers_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND
