// SPDX-License-Identifier: Apache-2.0
#include <txsync/locks/priority_tatas.hpp>
#include <txsync/machine/attempt.hpp>

#include "backoff.hpp"

namespace txsync::inline TXSYNC_BACKEND {

bool priority_tatas_lock::lock_slow(pastime* meanwhile) noexcept {
  const auto is_over = [](const void* lock, std::uint64_t) noexcept {
    return !static_cast<const priority_tatas_lock*>(lock)->is_held();
  };
  detail::exponential_backoff backoff(detail::spin_lock_waiting);
  while (!try_lock()) {
    pastime::spent spent = pastime::spent::nothing;
    // relaxed: bounds a number, orders nothing
    if (meanwhile != nullptr && ready_.load(std::memory_order_relaxed) < max_ready) {
      spent = meanwhile->spend({is_over, this, 0, 1});
    }
    if (spent == pastime::spent::inside_attempt) return false;
    if (spent == pastime::spent::time) {
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

}  // namespace txsync::inline TXSYNC_BACKEND
