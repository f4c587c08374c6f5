// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/locks/wait_task.hpp>
#include <txsync/machine/assert.hpp>
#include <txsync/machine/thread_annotations.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// A test-and-set lock that gives waiters that have warmed up priority over all other threads (always-abort paper,
/// III-B, Fig 4).
///
/// What it does: it counts the waiters that have used their wait to warm up, and are ready (n_rdy). While there are
/// any, no other thread may take the lock. At most `max_ready` waiters get ready at a time, so that no waiter's warm
/// data becomes cold. It is for warming<>. Without warm-up it is tatas_lock with one load more.
/// Fairness: none among ready waiters. Waiters that are not ready wait for all that are.
/// At most 2^32 - 1 waiters are ready (Linux has room for 2^22 threads). More than max_ready are, if several looked at
/// the same time.
/// It waits as tatas_lock does. Named requirements: Lockable. Constant-initialised; all bits zero is an unlocked lock;
/// 8 bytes.
class TXSYNC_CAPABILITY("mutex") priority_tatas_lock {
 public:
  static constexpr std::uint32_t max_ready = 1;  // MAX_SPECS of the paper, IV-A

  constexpr priority_tatas_lock() noexcept = default;
  priority_tatas_lock(const priority_tatas_lock&) = delete;
  priority_tatas_lock& operator=(const priority_tatas_lock&) = delete;

  void lock() noexcept TXSYNC_LOCKS {
    if (!try_lock()) [[unlikely]]
      lock_slow(nullptr);
  }
  /// A waiter runs `task`, and is then ready. Returns false if the thread does not have the lock but
  /// is in an always-abort attempt.
  bool lock(wait_task& task) noexcept TXSYNC_TRY_LOCKS { return try_lock() || lock_slow(&task); }
  /// Returns false also if the lock is meant for a ready waiter.
  [[nodiscard]] bool try_lock() noexcept TXSYNC_TRY_LOCKS {
    return ready_.load(std::memory_order_relaxed) == 0 && take();  // relaxed: a look only
  }
  /// Requires: the calling thread holds the lock.
  void unlock() noexcept TXSYNC_UNLOCKS {
    TXSYNC_ASSERT(is_held(), "the calling thread holds the lock");
    held_.store(0, std::memory_order_release);  // pairs with the acquire in take()
  }

  // For the child of a fork. The parent's ready waiters do not exist there, but are still counted.
  /// As try_lock(), even if waiters are ready.
  [[nodiscard]] bool try_lock_past_ready() noexcept TXSYNC_TRY_LOCKS { return take(); }
  /// Whether a waiter is ready, at some moment during the call.
  bool has_ready() const noexcept { return ready_.load(std::memory_order_relaxed) != 0; }  // relaxed: a look only
  /// Forgets the ready waiters. Requires: the calling thread holds the lock, and no thread of this process waits in
  /// lock().
  void forget_ready() noexcept {
    ready_.store(0, std::memory_order_relaxed);  // relaxed: ordered by the lock
  }

  /// Whether a thread holds it, at some moment during the call. A speculative attempt subscribes to this.
  // relaxed: an attempt orders the reads in it, and other callers decide nothing by it
  bool is_held() const noexcept { return held_.load(std::memory_order_relaxed) != 0; }

 private:
  bool take() noexcept {
    // relaxed load: it only looks, so that a failing try does not write. acquire pairs with the release in unlock()
    return held_.load(std::memory_order_relaxed) == 0 && held_.exchange(1, std::memory_order_acquire) == 0;
  }
  TXSYNC_EXPORT bool lock_slow(wait_task* task) noexcept;

  std::atomic<std::uint32_t> held_{0};
  std::atomic<std::uint32_t> ready_{0};
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND
