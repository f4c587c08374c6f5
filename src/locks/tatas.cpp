// SPDX-License-Identifier: Apache-2.0
#include <txsync/locks/tatas.hpp>
#include <txsync/machine/attempt.hpp>

#include "backoff.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND {

bool tatas_lock::lock_slow(wait_task* task) noexcept TXSYNC_UNCHECKED {
  const auto is_over = [](const void* lock, std::uint64_t) noexcept {
    return !static_cast<const tatas_lock*>(lock)->is_held();
  };
  detail::exponential_backoff backoff(detail::spin_lock_waiting);
  do {
    do {
      wait_task::result result = wait_task::result::nothing;
      if (task != nullptr) result = task->run_once({is_over, this, 0, 1});
      if (result == wait_task::result::in_attempt) return false;
      if (result == wait_task::result::nothing) backoff.wait();
    } while (held_.load(std::memory_order_relaxed) != 0);  // relaxed: only a look; the exchange decides
  } while (held_.exchange(1, std::memory_order_acquire) != 0);  // pairs with the release in unlock()
  machine::annotate_unseen_acquire(&held_);
  return true;
}

bool tatas_lock::lock_slow(std::uint64_t deadline) noexcept TXSYNC_UNCHECKED {
  detail::exponential_backoff backoff(detail::spin_lock_waiting);
  do {
    if (detail::is_past(deadline)) return false;
    backoff.wait();
  } while (!try_lock());
  machine::annotate_unseen_acquire(&held_);
  return true;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND
