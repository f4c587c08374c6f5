// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/timed.hpp>

namespace txsync::inline TXSYNC_BACKEND {

/// A reader-writer lock for sections that are read all the time and written hardly ever ("occasional" writers):
/// Shore-MT's occ_rwlock (shore-mt paper, 3.2), which guards its histograms and checkpoints.
///
/// What it does: readers count themselves in and out of one word; a writer announces itself there, keeps newcomers out
/// and waits until the readers inside have left. Writers queue at a mutex of their own.
/// Fairness: a writer waits only for the readers that are inside; among writers as futex_mutex. While writers follow
/// each other, readers wait, without a bound.
/// Use it for: read-mostly sections with rare writers. Do not: frequent writers (shared_mutex).
/// Cost: two atomic read-modify-writes a read section, on one shared line; a write adds a mutex.
/// Named requirements: SharedTimedLockable. Thread-safe. Not recursive, for readers neither: a
/// thread that holds it shared must not lock it shared again, since a writer that has come in between keeps the second
/// one out and waits for the first.
/// At most 2^30 shared holds, of however many threads: further ones are refused, or wait until one is given up, for
/// which they look once a millisecond.
/// In the child of a fork: as shared_mutex.
/// Constant-initialised; all zero is unlocked; 16 bytes.
class occ_rwlock : public detail::timed<occ_rwlock>, public detail::timed_shared<occ_rwlock> {
 public:
  constexpr occ_rwlock() noexcept = default;
  occ_rwlock(const occ_rwlock&) = delete;
  occ_rwlock& operator=(const occ_rwlock&) = delete;

  void lock_shared() noexcept {
    // acquire pairs with the release in unlock()
    if ((state_.fetch_add(1, std::memory_order_acquire) & (writer | full)) != 0) [[unlikely]]
      lock_shared_slow();
  }
  TXSYNC_EXPORT [[nodiscard]] bool try_lock_shared() noexcept;
  /// Tries until machine::clock_ns() reaches the deadline.
  TXSYNC_EXPORT [[nodiscard]] bool try_lock_shared_until_ns(std::uint64_t deadline) noexcept;
  void unlock_shared() noexcept {
    // release pairs with the writer's acquire; the last reader tells a waiting writer
    if (state_.fetch_sub(1, std::memory_order_release) == (writer | 1)) [[unlikely]]
      wake_writer();
  }
  /// unlock_shared(), or false, and nothing done, where no reader is inside. Cost: as unlock_shared() of the only
  /// reader; beside others an atomic more.
  bool unlock_shared_if_held() noexcept {
    std::uint32_t seen = 1;
    // No look ahead: the atomic operation would wait for it. Release as in unlock_shared(); relaxed: a look only.
    if (state_.compare_exchange_strong(seen, 0, std::memory_order_release, std::memory_order_relaxed)) [[likely]]
      return true;
    if ((seen & ~writer) == 0) return false;
    unlock_shared();
    return true;
  }

  TXSYNC_EXPORT void lock() noexcept;
  TXSYNC_EXPORT [[nodiscard]] bool try_lock() noexcept;
  TXSYNC_EXPORT [[nodiscard]] bool try_lock_until_ns(std::uint64_t deadline) noexcept;
  TXSYNC_EXPORT void unlock() noexcept;

  /// Readers inside now, those that are on their way out again included. Of use to monitors and to elision.
  std::uint32_t readers() const noexcept { return state_.load(std::memory_order_relaxed) & ~writer; }
  bool has_writer() const noexcept { return (state_.load(std::memory_order_relaxed) & writer) != 0; }
  bool is_held() const noexcept { return state_.load(std::memory_order_relaxed) != 0; }

 private:
  static constexpr std::uint32_t writer = std::uint32_t{1} << 31;
  /// Of the readers' bits: no more may come. Those that are on their way out again are fewer than threads.
  static constexpr std::uint32_t full = std::uint32_t{1} << 30;

  TXSYNC_EXPORT void lock_shared_slow() noexcept;
  bool await_way_in(std::uint64_t deadline) noexcept;
  void sleep_to_read(std::uint64_t deadline) noexcept;
  TXSYNC_EXPORT void wake_writer() noexcept;

  std::atomic<std::uint32_t> state_{0};
  std::atomic<std::uint32_t> sleeping_readers_{0};
  futex_mutex writers_;
};

}  // namespace txsync::inline TXSYNC_BACKEND
