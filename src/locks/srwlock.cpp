// SPDX-License-Identifier: Apache-2.0
#include <new>

#include <txsync/locks/srwlock.hpp>
#include <txsync/machine/attempt.hpp>

#include "backoff.hpp"
#include "once_in_child.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND {

// The holder of the queue's lock is the first in line. It sets `queued`, so that nobody enters before it, and waits
// until it can enter. It clears the mark as it enters. The next in line sets the mark again.

bool srwlock::forget_parents_queue() noexcept {
  return detail::once_in_child(queue_made_for_, [this]() noexcept {
    new (&queue_) mcs_lock;
    word_.fetch_and(~queued, std::memory_order_relaxed);  // relaxed: as where it is set
  });
}

void srwlock::lock_shared_slow() noexcept {
  (void)forget_parents_queue();
  const mcs_lock::guard first(queue_);
  std::uint32_t seen =
      word_.fetch_or(queued, std::memory_order_relaxed) | queued;  // relaxed: keeps others out, no data
  detail::patient_spin patience;
  for (;;) {
    if ((seen & (writer | full)) == 0) {
      // acquire pairs with the release in unlock()
      if (word_.compare_exchange_weak(seen, (seen + reader) & ~queued, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        return machine::annotate_unseen_acquire(&word_);
      }
    } else {
      patience.wait(0);
      seen = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    }
  }
}

void srwlock::lock_slow() noexcept {
  (void)forget_parents_queue();
  const mcs_lock::guard first(queue_);
  std::uint32_t seen =
      word_.fetch_or(queued, std::memory_order_relaxed) | queued;  // relaxed: keeps others out, no data
  detail::patient_spin patience;
  for (;;) {
    if (seen == queued) {
      // acquire pairs with the releases in unlock() and unlock_shared()
      if (word_.compare_exchange_weak(seen, writer, std::memory_order_acquire, std::memory_order_relaxed))
        return machine::annotate_unseen_acquire(&word_);
    } else {
      patience.wait(0);
      seen = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    }
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND
