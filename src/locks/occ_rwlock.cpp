// SPDX-License-Identifier: Apache-2.0
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread.hpp>

#include "backoff.hpp"

namespace txsync::inline TXSYNC_BACKEND {

namespace {
constexpr std::uint64_t spin_budget = 60'000;  // cycles
constexpr std::uint64_t look_distance = 256;
}  // namespace

void occ_rwlock::lock_shared_slow() noexcept {
  for (;;) {
    unlock_shared();  // out again: this thread was counted too early
    std::uint64_t spent = 0;
    for (;;) {
      const std::uint32_t seen = state_.load(std::memory_order_relaxed);  // relaxed: a look only
      if ((seen & writer) == 0) break;
      if (machine::cpu_count() > 1 && spent < spin_budget) {
        detail::pause_for(look_distance);
        spent += look_distance;
        continue;
      }
      // seq_cst, twice: the count before the second look at the word, against unlock()'s change of the word before its
      // look at the count
      sleeping_readers_.fetch_add(1, std::memory_order_seq_cst);
      const std::uint32_t again = state_.load(std::memory_order_seq_cst);
      if ((again & writer) != 0) machine::park(state_, again);
      sleeping_readers_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: too high costs a system call
    }
    // acquire pairs with the release in unlock()
    if ((state_.fetch_add(1, std::memory_order_acquire) & writer) == 0) return;
  }
}

bool occ_rwlock::try_lock_shared() noexcept {
  std::uint32_t seen = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  while ((seen & writer) == 0) {
    // acquire pairs with the release in unlock()
    if (state_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire, std::memory_order_relaxed)) return true;
  }
  return false;
}

// A writer sleeps on the word too. Wakes everybody on it: by address only, the lock may be gone.
void occ_rwlock::wake_writer() noexcept { machine::unpark(state_, machine::everyone); }

void occ_rwlock::lock() noexcept {
  writers_.lock();
  // acquire pairs with the readers' release
  std::uint32_t seen = state_.fetch_or(writer, std::memory_order_acquire) | writer;
  std::uint64_t spent = 0;
  while (seen != writer) {
    if (machine::cpu_count() > 1 && spent < spin_budget) {
      detail::pause_for(look_distance);
      spent += look_distance;
    } else {
      machine::park(state_, seen);
    }
    seen = state_.load(std::memory_order_acquire);  // pairs with the readers' release
  }
}

bool occ_rwlock::try_lock() noexcept {
  if (!writers_.try_lock()) return false;
  std::uint32_t expected = 0;
  // acquire pairs with the readers' release
  if (state_.compare_exchange_strong(expected, writer, std::memory_order_acquire, std::memory_order_relaxed))
    return true;
  writers_.unlock();
  return false;
}

void occ_rwlock::unlock() noexcept {
  // seq_cst: release for readers, and before the look at who sleeps (see lock_shared_slow())
  state_.fetch_and(~writer, std::memory_order_seq_cst);
  if (sleeping_readers_.load(std::memory_order_seq_cst) != 0) machine::unpark(state_, machine::everyone);
  writers_.unlock();
}

}  // namespace txsync::inline TXSYNC_BACKEND
