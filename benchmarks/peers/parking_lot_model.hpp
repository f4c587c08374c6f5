// SPDX-License-Identifier: Apache-2.0
// A model of the mutex of Rust's parking_lot, whose algorithm WebKit's WTF::Lock has too. Written for this benchmark
// from the published descriptions: the crate's documentation, and F. Pizlo, "Locking in WebKit", 2016.
//
// A waiter spins with growing pauses, then yields, then sleeps in a queue. An unlock that wakes a waiter lets newcomers
// take the lock, unless the queue's timer has run out: then the waiter gets the lock itself. The timer is set anew, to
// 0..1 ms at random, whenever it has run out. (The crate also hands over after any hold of more than 1 ms: by the same
// timer, which has run out by then.)
// Simplified: each lock has its own queue and timer, while the library has a table of queues for all locks, by address.
// So this model does not hash, its queue holds waiters of one lock only, and the lock is larger than a byte.
#pragma once

#include "peers/wait_queue.hpp"
#include "workloads/harness/random.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

class parking_lot_model {
 public:
  void lock() noexcept {
    std::uint32_t seen = 0;
    // acquire: pairs with the release of unlock()
    if (!state_.compare_exchange_weak(seen, held, std::memory_order_acquire, std::memory_order_relaxed)) wait();
  }
  void unlock() noexcept {
    std::uint32_t seen = held;
    // release: pairs with the acquire of lock()
    if (!state_.compare_exchange_strong(seen, 0, std::memory_order_release, std::memory_order_relaxed)) wake();
  }

 private:
  static constexpr std::uint32_t held = 1;
  static constexpr std::uint32_t parked = 2;  ///< a thread is in the queue, or about to be
  enum word : std::uint32_t { none, try_again, handed_over };
  static constexpr unsigned max_doublings = 3;
  static constexpr unsigned max_spins = 10;
  static constexpr std::uint64_t max_timer_ns = 1'000'000;

  void wait() noexcept {
    unsigned spins = 0;
    // relaxed here and below: a thread takes the lock by an acquire
    std::uint32_t seen = state_.load(std::memory_order_relaxed);
    for (;;) {
      if ((seen & held) == 0) {
        // acquire: pairs with the release of unlock() and wake()
        if (state_.compare_exchange_weak(seen, seen | held, std::memory_order_acquire, std::memory_order_relaxed))
          return;
        continue;
      }
      if ((seen & parked) == 0) {
        if (spins < max_spins) {
          spin(++spins);
          seen = state_.load(std::memory_order_relaxed);
          continue;
        }
        if (!state_.compare_exchange_weak(seen, seen | parked, std::memory_order_relaxed)) continue;
      }
      if (sleep_in_queue() == handed_over) return;
      spins = 0;
      seen = state_.load(std::memory_order_relaxed);
    }
  }

  static void spin(unsigned turn) noexcept {
    if (turn > max_doublings) return machine::yield();
    for (unsigned pauses = 1U << turn; pauses != 0; --pauses) machine::relax();
  }

  std::uint32_t sleep_in_queue() noexcept {
    sleeper me;
    {
      const wait_queue::holder hold(queue_);
      // The lock was given up, or the mark cleared, before this thread was in the queue: no thread would wake it.
      if (state_.load(std::memory_order_relaxed) != (held | parked)) return try_again;
      queue_.push_back(me);
    }
    return me.sleep();
  }

  void wake() noexcept {
    sleeper* next = nullptr;
    bool fair = false;
    {
      const wait_queue::holder hold(queue_);
      next = queue_.pop();
      fair = next != nullptr && timer_ran_out();
      // release: pairs with the acquire of lock()
      state_.store((fair ? held : 0) | (queue_.empty() ? 0 : parked), std::memory_order_release);
    }
    if (next != nullptr) next->wake(fair ? handed_over : try_again);
  }

  bool timer_ran_out() noexcept {
    const std::uint64_t now = machine::clock_ns();
    if (now < timer_ns_) return false;
    timer_ns_ = now + random_.below(max_timer_ns);
    return true;
  }

  std::atomic<std::uint32_t> state_{0};
  wait_queue queue_;
  std::uint64_t timer_ns_ = 0;             ///< guarded by the queue, as the next
  workloads::random_stream random_{1, 1};  ///< of the timer
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
