// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/locks/timed.hpp>
#include <txsync/locks/wait_task.hpp>
#include <txsync/machine/assert.hpp>
#include <txsync/machine/thread_annotations.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// A test-and-test-and-set spin lock with bounded exponential backoff.
///
/// What it does: the lock is one word. A waiter reads before it writes, and waits longer after each failure (Anderson
/// 1990; the "tatas" of the always-abort paper, IV-A). When it has waited for longer, it yields its CPU and then sleeps
/// between looks, because the holder may need the CPU. So more threads than cores are no disaster.
///
/// Fairness: none. A thread that keeps locking is favoured. There is no bound on how often a waiter is passed by.
/// Use it for: short sections, few waiters. Do not use it for: sections that block, or locks whose longest wait
/// matters.
/// Cost: one exchange and one store uncontended, inlined; a contended hand-over is one to three line transfers.
/// Named requirements: TimedLockable; a waiter that sleeps notices its deadline up to a millisecond late. Thread-safe;
/// not recursive. Constant-initialised; all bits zero is an unlocked lock; 4 bytes.
class TXSYNC_CAPABILITY("mutex") tatas_lock : public detail::timed<tatas_lock> {
 public:
  constexpr tatas_lock() noexcept = default;
  tatas_lock(const tatas_lock&) = delete;
  tatas_lock& operator=(const tatas_lock&) = delete;

  void lock() noexcept TXSYNC_LOCKS {
    // acquire pairs with the release in unlock()
    if (held_.exchange(1, std::memory_order_acquire) != 0) [[unlikely]]
      lock_slow(nullptr);
  }
  /// A waiter runs `task` instead of pausing. Returns false if the thread does not have the lock but
  /// is in an always-abort attempt.
  bool lock(wait_task& task) noexcept TXSYNC_TRY_LOCKS {
    // acquire pairs with the release in unlock()
    return held_.exchange(1, std::memory_order_acquire) == 0 || lock_slow(&task);
  }

  [[nodiscard]] bool try_lock() noexcept TXSYNC_TRY_LOCKS {
    // relaxed: it only looks; the exchange decides, and its acquire pairs with the release in unlock()
    return held_.load(std::memory_order_relaxed) == 0 && held_.exchange(1, std::memory_order_acquire) == 0;
  }

  /// Tries until machine::clock_ns() reaches the deadline.
  [[nodiscard]] bool try_lock_until_ns(std::uint64_t deadline) noexcept TXSYNC_TRY_LOCKS {
    return try_lock() || lock_slow(deadline);
  }

  /// Requires: the calling thread holds the lock.
  void unlock() noexcept TXSYNC_UNLOCKS {
    TXSYNC_ASSERT(is_held(), "the calling thread holds the lock");
    held_.store(0, std::memory_order_release);
  }

  /// Whether a thread holds it, at some moment during the call. A speculative attempt subscribes to this.
  // relaxed: an attempt orders the reads in it, and other callers decide nothing by it
  bool is_held() const noexcept { return held_.load(std::memory_order_relaxed) != 0; }

 private:
  TXSYNC_EXPORT bool lock_slow(wait_task* task) noexcept;
  TXSYNC_EXPORT bool lock_slow(std::uint64_t deadline) noexcept;

  std::atomic<std::uint32_t> held_{0};
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND
