// SPDX-License-Identifier: Apache-2.0
// glibc's default mutex and condition variable, with which papers compare: a thread that has to wait sleeps at once.
// Ours, which pthread_mutex_lock() is on the simulated machine, spins first. For measurements, not for use.
#pragma once

#include <txsync/machine/park.hpp>
#include <txsync/speculate/elision.hpp>

#include <atomic>
#include <cstdint>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

/// Drepper, "Futexes Are Tricky", 2011, mutex 3. Lockable.
class sleeping_mutex {
 public:
  void lock() noexcept {
    if (try_lock()) return;
    // acquire: pairs with the exchange in unlock()
    while (word_.exchange(waited_for, std::memory_order_acquire) != free) machine::park(word_, waited_for);
  }
  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t seen = free;
    // acquire: pairs with the exchange in unlock()
    return word_.compare_exchange_strong(seen, taken, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void unlock() noexcept {
    // release: pairs with the exchanges of threads that lock it
    if (word_.exchange(free, std::memory_order_release) == waited_for) machine::unpark(word_, 1);
  }
  // relaxed: an attempt's read is ordered by the attempt, and for all others nothing is decided by it
  bool is_held() const noexcept { return word_.load(std::memory_order_relaxed) != free; }

 private:
  static constexpr std::uint32_t free = 0;
  static constexpr std::uint32_t taken = 1;
  static constexpr std::uint32_t waited_for = 2;

  std::atomic<std::uint32_t> word_{free};
};

/// A number that notifications change, and on which waiters sleep. In elided sections it is the LevelDB paper's
/// XCondVar (4.1). A wait commits what the section has done before it sleeps, and a notification wakes after the
/// commit. Requires: all calls are made in sections of one lock, and waiters check their condition again.
class sleeping_condition {
 public:
  template <class Lock>
  void wait(Lock& lock) noexcept {
    // relaxed here and below: ordered by the lock
    const std::uint32_t seen = number_.load(std::memory_order_relaxed);
    ++waiters_;
    lock.unlock();
    commit_coarsened();
    machine::park(number_, seen);
    lock.lock();
  }
  void notify_one() noexcept {
    if (waiters_ == 0) return;
    --waiters_;
    wake(1);
  }
  void notify_all() noexcept {
    if (waiters_ == 0) return;
    waiters_ = 0;
    wake(machine::everyone);
  }

 private:
  void wake(unsigned how_many) noexcept {
    number_.store(number_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    // The address of the word is passed, because the variable may be gone when the action runs.
    on_commit([word = &number_, how_many]() noexcept { machine::unpark(*word, how_many); });
  }

  std::atomic<std::uint32_t> number_{0};
  std::uint32_t waiters_ = 0;  ///< waiters that have not been notified
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
