// SPDX-License-Identifier: Apache-2.0
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread.hpp>

#include "backoff.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND {

namespace {
constexpr std::uint64_t spin_budget = 60'000;  // cycles
constexpr std::uint64_t look_distance = 256;
constexpr std::uint64_t nap_ns = 1'000'000;
}  // namespace

void occ_rwlock::lock_shared_slow() noexcept TXSYNC_UNCHECKED {
  unlock_shared();  // undo: this thread was counted too early
  (void)try_lock_shared_until_ns(machine::no_deadline);
}

bool occ_rwlock::try_lock_shared_until_ns(std::uint64_t deadline) noexcept {
  while (!try_lock_shared()) {
    if (!await_way_in(deadline)) return false;
  }
  return true;
}

/// False: the deadline has passed before a reader might enter.
bool occ_rwlock::await_way_in(std::uint64_t deadline) noexcept {
  for (std::uint64_t spun = 0;;) {
    const std::uint32_t seen = state_.load(std::memory_order_relaxed);  // relaxed: only a look
    if ((seen & (writer | full)) == 0) return true;
    if (detail::is_past(deadline)) return false;
    if (machine::cpu_count() > 1 && spun < spin_budget) {
      detail::pause_for(look_distance);
      spun += look_distance;
    } else if ((seen & writer) == 0) {
      (void)detail::nap(nap_ns, deadline);  // readers wake only a writer
    } else {
      sleep_to_read(deadline);
    }
  }
}

void occ_rwlock::sleep_to_read(std::uint64_t deadline) noexcept {
  // seq_cst, twice: the count comes before the second read of the word; unlock() changes the word before it reads the
  // count
  sleeping_readers_.fetch_add(1, std::memory_order_seq_cst);
  const std::uint32_t again = state_.load(std::memory_order_seq_cst);
  if ((again & writer) != 0) machine::park(state_, again, deadline);
  sleeping_readers_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: too high a count costs a system call
}

bool occ_rwlock::try_lock_shared() noexcept {
  std::uint32_t seen = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  while ((seen & (writer | full)) == 0) {
    // acquire pairs with the release in unlock()
    if (state_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire, std::memory_order_relaxed)) {
      machine::annotate_unseen_acquire(&state_);
      return true;
    }
  }
  return false;
}

// Wakes everybody on the word, since a writer sleeps on it too. By address only: the lock may be gone.
void occ_rwlock::wake_writer() noexcept { machine::unpark(state_, machine::everyone); }

void occ_rwlock::lock() noexcept { (void)try_lock_until_ns(machine::no_deadline); }

bool occ_rwlock::try_lock_until_ns(std::uint64_t deadline) noexcept {
  if (!writers_.try_lock_until_ns(deadline)) return false;
  // The exchange does not read the word first: that read would wait for the mutex's atomic operation. fetch_or() is such
  // a read and an exchange. acquire pairs with the readers' release; relaxed: fetch_or() decides
  std::uint32_t seen = 0;
  if (state_.compare_exchange_strong(seen, writer, std::memory_order_acquire, std::memory_order_relaxed)) [[likely]]
    seen = writer;
  else
    seen = state_.fetch_or(writer, std::memory_order_acquire) | writer;
  for (std::uint64_t spun = 0; seen != writer;) {
    if (detail::is_past(deadline)) {
      unlock();
      return false;
    }
    if (machine::cpu_count() > 1 && spun < spin_budget) {
      detail::pause_for(look_distance);
      spun += look_distance;
    } else {
      machine::park(state_, seen, deadline);
    }
    seen = state_.load(std::memory_order_acquire);  // pairs with the readers' release
  }
  machine::annotate_unseen_acquire(&state_);
  return true;
}

bool occ_rwlock::try_lock() noexcept {
  if (!writers_.try_lock()) return false;
  std::uint32_t expected = 0;
  // acquire pairs with the readers' release
  if (state_.compare_exchange_strong(expected, writer, std::memory_order_acquire, std::memory_order_relaxed)) {
    machine::annotate_unseen_acquire(&state_);
    return true;
  }
  writers_.unlock();
  return false;
}

void occ_rwlock::unlock() noexcept {
  TXSYNC_ASSERT(has_writer(), "the calling thread holds the lock exclusively");
  (void)unlock_if_held();
}

bool occ_rwlock::unlock_if_held() noexcept {
  machine::annotate_unseen_release(&state_);
  // Mostly there are no readers. seq_cst: release for readers, and before the read of the sleepers (see sleep_to_read());
  // relaxed: fetch_and() decides
  std::uint32_t seen = writer;
  if (!state_.compare_exchange_strong(seen, 0, std::memory_order_seq_cst, std::memory_order_relaxed) &&
      (state_.fetch_and(~writer, std::memory_order_seq_cst) & writer) == 0)
    return false;
  if (sleeping_readers_.load(std::memory_order_seq_cst) != 0) machine::unpark(state_, machine::everyone);
  writers_.unlock();
  return true;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND
