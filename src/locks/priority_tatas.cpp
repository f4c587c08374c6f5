// SPDX-License-Identifier: Apache-2.0
#include <txsync/locks/priority_tatas.hpp>
#include <txsync/machine/attempt.hpp>

#include "backoff.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND {

bool priority_tatas_lock::lock_slow(wait_task* task) noexcept TXSYNC_UNCHECKED {
  const auto is_over = [](const void* lock, std::uint64_t) noexcept {
    return !static_cast<const priority_tatas_lock*>(lock)->is_held();
  };
  detail::exponential_backoff backoff(detail::spin_lock_waiting);
  while (!try_lock()) {
    wait_task::result result = wait_task::result::nothing;
    // relaxed: bounds a number, orders nothing
    if (task != nullptr && ready_.load(std::memory_order_relaxed) < max_ready) {
      result = task->run_once({is_over, this, 0, 1});
    }
    if (result == wait_task::result::in_attempt) return false;
    if (result == wait_task::result::ran) {
      ready_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a thread that sees it too late takes a turn before us
      // Until then nobody else may get the lock. It must not lie idle because this thread pauses.
      detail::patient_spin patience;
      while (!take()) patience.wait(0);
      ready_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: as above
      break;
    }
    backoff.wait();
  }
  machine::annotate_unseen_acquire(&held_);
  return true;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND
