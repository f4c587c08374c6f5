// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/locks/pastime.hpp>

namespace txsync::inline TXSYNC_BACKEND {

/// A test-and-set lock that goes to waiters that have warmed up before all others (always-abort paper, III-B, Fig 4).
///
/// What it does: counts the waiters that have used their wait (n_rdy); while there are any, nobody else may take the
/// lock, and at most `most_ready` get ready at a time, so that nobody's warm data grows cold. For warming<>; without
/// warm-up it is tatas_lock with a load more.
/// At most 2^32 - 1 are ready (Linux has room for 2^22 threads); more than most_ready where several looked at once.
/// Fairness: none among those that are ready, and those that are not wait for all that are.
/// Waits as tatas_lock does. Named requirements: Lockable. Constant-initialised; all zero is unlocked; 8 bytes.
class priority_tatas_lock {
 public:
  static constexpr std::uint32_t most_ready = 1;  // MAX_SPECS of the paper, IV-A

  constexpr priority_tatas_lock() noexcept = default;
  priority_tatas_lock(const priority_tatas_lock&) = delete;
  priority_tatas_lock& operator=(const priority_tatas_lock&) = delete;

  void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      lock_slow(nullptr);
  }
  /// A waiter does `meanwhile`, and is then ready. False: it has not got the lock, but is in an always-abort attempt.
  bool lock(pastime& meanwhile) noexcept { return try_lock() || lock_slow(&meanwhile); }
  /// False also where the lock is meant for a waiter that is ready.
  [[nodiscard]] bool try_lock() noexcept {
    return ready_.load(std::memory_order_relaxed) == 0 && take();  // relaxed: a look only
  }
  /// Requires: the calling thread holds the lock.
  void unlock() noexcept { held_.store(0, std::memory_order_release); }  // pairs with the acquire in take()

  // In the child of a fork, whose parent's ready waiters do not exist, but are still counted:
  /// As try_lock(), whoever is ready.
  [[nodiscard]] bool try_lock_past_ready() noexcept { return take(); }
  /// Whether a waiter is ready, at some moment of the call.
  bool has_ready() const noexcept { return ready_.load(std::memory_order_relaxed) != 0; }  // relaxed: a look only
  /// Forgets them. Requires: the calling thread holds the lock, and no thread of this process waits in lock().
  void forget_ready() noexcept { ready_.store(0, std::memory_order_relaxed); }  // relaxed: ordered by the lock

  /// Whether somebody holds it, at some moment of the call: what a speculative attempt subscribes to.
  // relaxed: an attempt's read is ordered by the attempt, and everybody else decides nothing by it
  bool is_held() const noexcept { return held_.load(std::memory_order_relaxed) != 0; }

 private:
  bool take() noexcept {
    // relaxed load: a look only, so that a failing try does not write. acquire pairs with the release in unlock()
    return held_.load(std::memory_order_relaxed) == 0 && held_.exchange(1, std::memory_order_acquire) == 0;
  }
  TXSYNC_EXPORT bool lock_slow(pastime* meanwhile) noexcept;

  std::atomic<std::uint32_t> held_{0};
  std::atomic<std::uint32_t> ready_{0};
};

}  // namespace txsync::inline TXSYNC_BACKEND
