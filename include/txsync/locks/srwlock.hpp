// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/locks/latch_mode.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/machine/assert.hpp>
#include <txsync/machine/thread_annotations.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// The single-writer, multiple-reader latch of a storage manager, which can tell its mode and its readers. It is
/// Shore-MT's srwlock (shore-mt paper, 3.2), the latch of pages.
///
/// What it does: one word counts readers and marks a writer. A thread that cannot enter at once queues up fairly
/// (mcs_lock). Only the first thread of the queue watches the word.
/// Fairness: first come, first served among threads that queue. No thread overtakes the queue, so readers do not starve
/// writers. With more waiters than cores, the surplus waiters enter a busy queue at a rate of about one per millisecond
/// (mcs_lock).
/// Use it for: latches that are held for short, known work. Do not use it for: sections that sleep for long
/// (shared_mutex).
/// Cost: one compare-exchange to enter and one fetch-sub to leave, if no thread queues.
/// In the child of a fork, the thread that held it, in either mode, can unlock and use it: the queue there is empty.
/// Named requirements: SharedLockable.
/// Not recursive, also not for readers: a thread that holds it shared must not lock it shared again. If another thread
/// has queued up in between, the second shared lock waits for that thread, and that thread waits for the first one.
/// At most 2^29 shared holds exist, over all threads. Further readers are refused, or wait in the queue.
/// Constant-initialised; all bits zero is an unlocked lock; 40 bytes.
class TXSYNC_CAPABILITY("shared_mutex") srwlock {
 public:
  constexpr srwlock() noexcept = default;
  srwlock(const srwlock&) = delete;
  srwlock& operator=(const srwlock&) = delete;

  void lock_shared() noexcept TXSYNC_LOCKS_SHARED {
    if (!try_enter_shared()) [[unlikely]]
      lock_shared_slow();
  }
  [[nodiscard]] bool try_lock_shared() noexcept TXSYNC_TRY_LOCKS_SHARED {
    if (try_enter_shared()) return true;
    return is_queued() && forget_parents_queue() && try_enter_shared();
  }
  void unlock_shared() noexcept TXSYNC_UNLOCKS_SHARED {
    TXSYNC_ASSERT(readers() != 0, "the calling thread holds the latch shared");
    // release pairs with the writer's acquire
    word_.fetch_sub(reader, std::memory_order_release);
  }
  /// As unlock_shared(). If there is no reader, it does nothing and returns false. No extra cost.
  bool unlock_shared_if_held() noexcept TXSYNC_UNLOCKS_SHARED {
    // release: as in unlock_shared()
    const std::uint32_t before = word_.fetch_sub(reader, std::memory_order_release);
    if (is_count(before / reader)) [[likely]]
      return true;
    // The count was negative for a moment, which looks like too many readers: no thread has entered.
    word_.fetch_add(reader, std::memory_order_relaxed);  // relaxed: it undoes what has published nothing
    return false;
  }

  void lock() noexcept TXSYNC_LOCKS {
    if (!try_enter()) [[unlikely]]
      lock_slow();
  }
  [[nodiscard]] bool try_lock() noexcept TXSYNC_TRY_LOCKS {
    if (try_enter()) return true;
    return is_queued() && forget_parents_queue() && try_enter();
  }
  void unlock() noexcept TXSYNC_UNLOCKS {
    TXSYNC_ASSERT(has_writer(), "the calling thread holds the latch exclusively");
    // release pairs with the next owners' acquire
    word_.fetch_and(~writer, std::memory_order_release);
  }
  /// As unlock(). If there is no writer, it does nothing and returns false. Cost: as unlock() if no thread queues;
  /// otherwise one more atomic operation.
  bool unlock_if_held() noexcept TXSYNC_UNLOCKS {
    std::uint32_t seen = writer;
    // release: as in unlock(); relaxed: on failure it only looks
    if (word_.compare_exchange_strong(seen, 0, std::memory_order_release, std::memory_order_relaxed)) [[likely]]
      return true;
    if ((seen & writer) == 0) return false;
    unlock();
    return true;
  }

  /// From shared to exclusive, if the caller is the only reader and no thread queues. False: it is still shared.
  [[nodiscard]] bool try_upgrade() noexcept {
    std::uint32_t expected = reader;
    // acquire pairs with the other readers' release
    return word_.compare_exchange_strong(expected, writer, std::memory_order_acquire, std::memory_order_relaxed);
  }
  /// From exclusive to shared.
  void downgrade() noexcept {
    TXSYNC_ASSERT(has_writer(), "the calling thread holds exclusively the latch that it downgrades");
    // release pairs with readers' acquire
    word_.fetch_add(reader - writer, std::memory_order_release);
  }

  /// Relaxed, here and below: true at some moment during the call. For the holder, for monitors and for elision.
  bool has_writer() const noexcept { return (word_.load(std::memory_order_relaxed) & writer) != 0; }
  bool is_held() const noexcept { return (word_.load(std::memory_order_relaxed) & ~queued) != 0; }
  std::uint32_t readers() const noexcept { return word_.load(std::memory_order_relaxed) / reader; }
  latch_mode mode() const noexcept {
    const std::uint32_t seen = word_.load(std::memory_order_relaxed);
    if ((seen & writer) != 0) return latch_mode::exclusive;
    return seen / reader != 0 ? latch_mode::shared : latch_mode::none;
  }

 private:
  static constexpr std::uint32_t writer = 1;
  static constexpr std::uint32_t queued = 2;  // the first thread of the queue has asked newcomers to queue up, too
  static constexpr std::uint32_t reader = 4;
  static constexpr std::uint32_t full = std::uint32_t{1} << 31;  // with so many readers no more may enter

  /// Whether there was a reader. Wrong unlocks leave counts below 0 for a moment.
  static constexpr bool is_count(std::uint32_t readers) noexcept { return readers - 1 < full / reader; }

  bool try_enter_shared() noexcept {
    // relaxed: it only looks; the exchange decides, and its acquire pairs with the releases in unlock() and
    // unlock_shared()
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    while ((seen & (writer | queued | full)) == 0) {
      if (word_.compare_exchange_weak(seen, seen + reader, std::memory_order_acquire, std::memory_order_relaxed))
        return true;
    }
    return false;
  }
  bool try_enter() noexcept {
    std::uint32_t expected = 0;
    // acquire pairs with the releases in unlock() and unlock_shared()
    return word_.compare_exchange_strong(expected, writer, std::memory_order_acquire, std::memory_order_relaxed);
  }
  // relaxed: it only looks
  bool is_queued() const noexcept { return (word_.load(std::memory_order_relaxed) & queued) != 0; }
  /// In the child of a fork, before its first thread queues up. The parent's queued threads do not exist in the child.
  /// The forking thread does, and may hold the lock, but it was not queued. False: there was nothing to do.
  TXSYNC_EXPORT bool forget_parents_queue() noexcept;
  TXSYNC_EXPORT void lock_shared_slow() noexcept;
  TXSYNC_EXPORT void lock_slow() noexcept;

  std::atomic<std::uint32_t> word_{0};
  std::atomic<std::uint32_t> queue_made_for_{0};
  mcs_lock queue_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND
